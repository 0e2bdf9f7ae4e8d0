-- Fixed-width integer arithmetic: wrap-around, quot/rem/div/mod on every sign, shifts, conversions.
import Data.Bits
import Data.Int
import Data.Word

main :: IO ()
main = do
  print (maxBound :: Int, minBound :: Int, (maxBound :: Int) + 1 == minBound)
  print [ (a `quot` b, a `rem` b, a `div` b, a `mod` b) | a <- [7, -7 :: Int], b <- [2, -2] ]
  print (map fromIntegral [127, 128, 255, 256, -129 :: Int] :: [Int8])
  print (map fromIntegral [-1, 65535, 65536 :: Int] :: [Word16])
  print (fromIntegral (-1 :: Int) :: Word64, fromIntegral (2 ^ 63 :: Word64) :: Int64)
  print (shiftL 1 63 :: Int, shiftR (-8) 1 :: Int, shiftL 1 64 :: Int, shiftR (-1) 64 :: Int)
  print (rotateL (0x8000000000000001 :: Word64) 1, popCount (-1 :: Int), countLeadingZeros (1 :: Word32))
  print (divMod minBound (2 :: Int8), quotRem (minBound :: Int64) 3)
  print (gcd 12 (-18) :: Int, lcm 4 6 :: Int, 3 ^ (40 :: Int) :: Int)
