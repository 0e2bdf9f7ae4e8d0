-- Integer and Natural functions beyond arithmetic: powers, roots, bits, parsing, errors.
import Control.Exception
import Data.Bits
import Data.Ratio
import Numeric
import Numeric.Natural

powMod :: Integer -> Integer -> Integer -> Integer
powMod _ 0 _ = 1
powMod b e m | even e = let h = powMod b (e `div` 2) m in h * h `mod` m
             | otherwise = b * powMod b (e - 1) m `mod` m

isqrt :: Integer -> Integer
isqrt n = go n where go x = let y = (x + n `div` x) `div` 2 in if y >= x then x else go y

main :: IO ()
main = do
  print (powMod 3 (10 ^ (40 :: Int)) (2 ^ (127 :: Int) - 1))
  print (isqrt (10 ^ (80 :: Int)), isqrt (2 * 10 ^ (60 :: Int)))
  print (fromIntegral (2 ^ (70 :: Int) - 1 :: Integer) :: Int, fromInteger (-5) :: Word)
  r <- try (evaluate (3 - 5 :: Natural))
  print (r :: Either ArithException Natural)
  r2 <- try (evaluate (fromInteger (-1) :: Natural))
  print (r2 :: Either ArithException Natural)
  print (2 ^ (100 :: Int) :: Natural, fromIntegral (maxBound :: Word) + 1 :: Natural)
  putStrLn (showHex (2 ^ (100 :: Int) - 1 :: Integer) "" ++ " " ++ showOct (8 ^ (30 :: Int) :: Integer) "")
  print (fst (head (readHex "ffffffffffffffffffff" :: [(Integer, String)])))
  print (complement (2 ^ (80 :: Int)) :: Integer, shiftR (-(2 ^ (80 :: Int)) - 1) 79 :: Integer, (-1) .&. (2 ^ (65 :: Int) - 1) :: Integer)
  print (truncate (1e200 :: Double) `mod` (10 ^ (9 :: Int) + 7) :: Integer, fromRational (3 ^ (400 :: Int) % 2 ^ (600 :: Int)) :: Double)
  print (read "-123456789012345678901234567890" :: Integer, [2 ^ (64 :: Int), 2 ^ (64 :: Int) + 3 .. 2 ^ (64 :: Int) + 10] :: [Integer])
  r3 <- try (evaluate (2 ^ (-1 :: Int) :: Int)) :: IO (Either ErrorCall Int)
  print r3
