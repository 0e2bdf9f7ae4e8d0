-- Infinite structures tied through themselves: primes, Fibonacci numbers, Hamming numbers, Pascal's triangle.
primes :: [Int]
primes = 2 : filter isPrime [3, 5 ..]
  where isPrime n = all (\p -> n `mod` p /= 0) (takeWhile (\p -> p * p <= n) primes)

hamming :: [Integer]
hamming = 1 : merge (map (* 2) hamming) (merge (map (* 3) hamming) (map (* 5) hamming))
  where
    merge a@(x : xs) b@(y : ys)
      | x < y = x : merge xs b
      | x > y = y : merge a ys
      | otherwise = x : merge xs ys
    merge _ _ = []

main :: IO ()
main = do
  print (primes !! 2000, takeWhile (< 60) primes)
  print (hamming !! 1500)
  let fibs = 0 : scanl (+) 1 fibs :: [Integer]
  print (fibs !! 300)
  let pascal = iterate (\r -> zipWith (+) (0 : r) (r ++ [0])) [1] :: [[Integer]]
  print (pascal !! 30)
