-- Data.Unique in many threads, Data.Version, System.Info, Data.Complex, Data.Ratio, Data.Fixed.
import Control.Concurrent
import Control.Monad
import Data.Complex
import Data.Fixed
import Data.List (nub, sort)
import Data.Ratio
import Data.Unique
import Data.Version
import System.Info
import Text.ParserCombinators.ReadP

main :: IO ()
main = do
  vs <- forM [1 .. 10 :: Int] $ \_ -> do { v <- newEmptyMVar; _ <- forkIO (replicateM 50 newUnique >>= putMVar v); return v }
  us <- concat <$> mapM takeMVar vs
  print (length (nub (map hashUnique us)), length us)
  putStrLn (showVersion (makeVersion [1, 2, 3]))
  print (compilerName, showVersion compilerVersion, os, arch)
  print (magnitude (3 :+ 4 :: Complex Double), (1 :+ 2) * (3 :+ 4) :: Complex Double)
  print (sum (map (1 %) [1 .. 30]) :: Rational)
  print (3.14159 `mod'` 1.5 :: Centi, 10 / 3 :: Milli, (7.5 :: Double) `div'` 2 :: Int)
  print (readP_to_S (sepBy1 (munch1 (`elem` ['a' .. 'z'])) (char ',') <* eof) "ab,c,def")
  print (sort (map show (take 3 us `seq` [1 :: Int, 2])))
