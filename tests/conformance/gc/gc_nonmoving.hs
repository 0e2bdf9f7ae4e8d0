-- The concurrent non-moving collector's flag is accepted and the answers stay the same.
-- args: +RTS -xn -A128k -RTS
import qualified Data.Map.Strict as M
import Control.Concurrent
import Data.IORef
import Control.Monad
import System.Mem

main :: IO ()
main = do
  r <- newIORef M.empty
  mv <- newMVar (0 :: Int)
  forM_ [1 .. 30000 :: Int] $ \i -> do
    modifyIORef' r (M.insert (i `mod` 3001) (show i))
    modifyMVar_ mv (\x -> return $! x + i)
    when (i `mod` 10000 == 0) performMajorGC
  m <- readIORef r
  print (M.size m, sum (map length (M.elems m)))
  readMVar mv >>= print
