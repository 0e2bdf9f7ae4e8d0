-- Numeric: matrix multiplication and powers over lists of lists.
-- args: 200
import Data.List (transpose, foldl')
import System.Environment

mul :: [[Int]] -> [[Int]] -> [[Int]]
mul a b = [ [ foldl' (\s (x, y) -> (s + x * y) `mod` 1000003) 0 (zip r c) | c <- bt ] | r <- a ]
  where bt = transpose b

power :: [[Int]] -> Int -> [[Int]]
power m 1 = m
power m k | even k = let h = power m (k `div` 2) in mul h h
          | otherwise = mul m (power m (k - 1))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let m = [ [ (i * 31 + j * 17) `mod` 101 | j <- [1 .. n] ] | i <- [1 .. n] ]
  print (sum (map sum (power m 50)) `mod` 1000003)
