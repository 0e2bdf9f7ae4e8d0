-- A picture of the Mandelbrot set: a spark for each row, whose points are an unboxed array. Prints the sum of the
-- points, and a number that depends on their order. Argument: the length of a row.
-- ghc: -O -threaded
-- needs: parallel array
import Control.Parallel.Strategies
import Data.Array.Unboxed
import Data.List
import System.Environment

row :: Int -> Int -> UArray Int Int
row n y = listArray (0, n - 1) [escape (at x - 0.5) (at y) | x <- [0 .. n - 1]]
  where
    at i = 2.5 * fromIntegral i / fromIntegral n - 1.25

escape :: Double -> Double -> Int
escape cr ci = go 0 0 0
  where
    go :: Double -> Double -> Int -> Int
    go x y n
      | n == 1000 || x * x + y * y > 4 = n
      | otherwise = go (x * x - y * y + cr) (2 * x * y + ci) (n + 1)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let points = concatMap elems (map (row n) [0 .. n - 1] `using` parList rseq)
      step (total, mixed) p = let t = total + p; m = (mixed * 31 + p) `mod` 1000003 in t `seq` m `seq` (t, m)
  print (foldl' step (0, 7) points)
