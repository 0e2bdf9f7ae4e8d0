-- Numeric: escape times on a grid, unboxed loops and a histogram.
-- args: 900
import Data.Array.Unboxed
import System.Environment

escape :: Double -> Double -> Int
escape cr ci = go 0 0 0
  where
    go :: Double -> Double -> Int -> Int
    go x y n
      | n >= 150 || x * x + y * y > 4 = n
      | otherwise = go (x * x - y * y + cr) (2 * x * y + ci) (n + 1)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let pts = [ escape (3 * fromIntegral i / fromIntegral n - 2) (2.4 * fromIntegral j / fromIntegral n - 1.2) | i <- [0 .. n - 1], j <- [0 .. n - 1 :: Int] ]
      h = accumArray (+) 0 (0, 150) [ (p, 1) | p <- pts ] :: UArray Int Int
  print (h ! 150, sum [ i * c | (i, c) <- assocs h ])
