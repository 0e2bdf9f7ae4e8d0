-- Arithmetic exceptions raised by the compiled code's own checks.
import Control.Exception
import Data.Int
import Data.Ratio

t :: Show a => a -> IO ()
t x = do
  r <- try (evaluate x)
  case r of
    Left e -> putStrLn ("caught: " ++ show (e :: ArithException))
    Right v -> print v

main :: IO ()
main = do
  t (1 `div` (0 :: Int))
  t (1 `mod` (0 :: Int))
  t (minBound `div` (-1 :: Int))
  t (minBound `quot` (-1 :: Int8))
  t (minBound `rem` (-1 :: Int64))
  t (10 ^ 30 `div` (0 :: Integer))
  t ((10 ^ (30 :: Int)) `quotRem` (0 :: Integer))
  t (1 % (0 :: Integer))
  t (fromInteger (-1) :: Word)
  t (toEnum (-1) :: Int8, 2 :: Int)
  t (fromIntegral (7 :: Int) `divMod` (2 :: Integer))
