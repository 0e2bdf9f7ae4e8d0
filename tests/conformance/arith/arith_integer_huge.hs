-- Integers of many kilobytes: the number's limbs are large byte arrays that survive collections.
main :: IO ()
main = do
  let f = product [1 .. 3000 :: Integer]
      s = show f
  print (length s, take 20 s, sum (map fromEnum s))
  print (f `div` product [1 .. 2998])
  let fibs = 0 : 1 : zipWith (+) fibs (tail fibs) :: [Integer]
  print (fibs !! 20000 `mod` (10 ^ 30))
  print (foldr (\n acc -> acc * 10 + n) 0 (concat (replicate 300 [1 .. 9])) `mod` 1000000007 :: Integer)
