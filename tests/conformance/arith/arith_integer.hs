-- Big integers: every operation over values on both sides of the small/big border, positive and negative.
import Data.Bits

values :: [Integer]
values = concat [ [n, negate n] | n <- [0, 1, 2 ^ 31, 2 ^ 62 - 1, 2 ^ 63 - 1, 2 ^ 63, 2 ^ 64 - 1, 2 ^ 64, 10 ^ 30 + 7, 3 ^ 200] ]

mix :: [Integer] -> Integer
mix = foldl (\h x -> (h * 1000003 + x) `mod` (2 ^ 127 - 1)) 17

main :: IO ()
main = do
  print (mix [ a + b | a <- values, b <- values ])
  print (mix [ a - b | a <- values, b <- values ])
  print (mix [ a * b | a <- values, b <- values ])
  print (mix [ x | a <- values, b <- values, b /= 0, let (q, r) = quotRem a b, let (d, m) = divMod a b, x <- [q, r, d, m] ])
  print (and [ q * b + r == a | a <- values, b <- values, b /= 0, let (q, r) = quotRem a b ])
  print (mix [ gcd a b | a <- values, b <- values ])
  print (mix [ (a .&. b) + 3 * (a .|. b) + 5 * xor a b | a <- values, b <- values ])
  print (mix [ shiftL a n + shiftR a n | a <- values, n <- [0, 1, 63, 64, 65, 200] ])
  print (mix [ fromIntegral (fromEnum (compare a b)) + (if a == b then 7 else 0) | a <- values, b <- values ])
  print (map (fromInteger :: Integer -> Int) [2 ^ 63, -(2 ^ 64) - 5, 3 ^ 100])
  print (map (fromInteger :: Integer -> Double) [2 ^ 100, -(3 ^ 80), 10 ^ 310])
  print (read (show (3 ^ 300 :: Integer)) == (3 ^ 300 :: Integer), testBit (2 ^ 100 :: Integer) 100, popCount (3 ^ 100 :: Integer))
  print (2 ^ 521 - 1 :: Integer)
