-- Lists: library sort, quicksort, merge sort and grouping over pseudo-random numbers.
-- args: 80000
import Data.List
import System.Environment

quick :: [Int] -> [Int]
quick [] = []
quick (p : xs) = quick lo ++ p : quick hi
  where (lo, hi) = partition (< p) xs

merge :: [Int] -> [Int] -> [Int]
merge a@(x : xs) b@(y : ys) | x <= y = x : merge xs b
                            | otherwise = y : merge a ys
merge a [] = a
merge [] b = b

msort :: [Int] -> [Int]
msort = go . map (: [])
  where go [] = []
        go [x] = x
        go xs = go (pairs xs)
        pairs (a : b : r) = merge a b : pairs r
        pairs r = r

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let xs = take n (map (`div` 64) (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) 5))
      s = sort xs
  print (s !! (n `div` 2), s == quick xs, s == msort xs)
  print (length (group (map (`mod` 5000) s)), length (nub (map (`mod` 700) (take 20000 xs))))
  print (sum (zipWith (*) (cycle [1, -1]) (sortOn negate xs)))
