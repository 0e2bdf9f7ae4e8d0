-- The matrix-multiply of [FN96, §4]: makes two matrices, multiplies them, and sums the result. The rows of the result
-- are divided into parts, of which each is placed on a processing element. Arguments: the size; how many parts.
-- ghc: -O -threaded
-- needs: hecaton parallel array
{-# LANGUAGE BangPatterns #-}
import Control.Parallel
import Data.Array.Base (unsafeAt)
import Data.Array.Unboxed
import Hecaton.Cluster
import System.Environment

type Matrix = UArray Int Double

matrix :: Int -> (Int -> Int -> Int) -> Matrix
matrix n f = listArray (0, n * n - 1) [fromIntegral (f i j) / 16 | i <- [0 .. n - 1], j <- [0 .. n - 1]]

-- The rows of the product from one up to another one. The second matrix is given by columns.
rows :: Int -> Matrix -> Matrix -> Int -> Int -> Matrix
rows n !a !b from to = listArray (0, (to - from) * n - 1) dots
  where
    dots = [dot (i * n) (j * n) | i <- [from .. to - 1], j <- [0 .. n - 1]]
    dot i j = go 0 0
      where
        go :: Int -> Double -> Double
        go k !acc
          | k == n = acc
          | otherwise = go (k + 1) (acc + unsafeAt a (i + k) * unsafeAt b (j + k))

main :: IO ()
main = do
  [n, parts] <- map read <$> getArgs
  pes <- numPEs
  let a = matrix n (\i j -> (i * 7 + j * 13) `mod` 101)
      b = matrix n (\j i -> (i * 3 + j * 5) `mod` 97)
      border k = n * k `div` parts
      part k = on (PE (k `mod` pes)) (rows n a b (border k) (border (k + 1)))
      first : others = map part [0 .. parts - 1]
      spark x rest = x `par` rest
  a `seq` b `seq` foldr spark (print (sum (map (sum . elems) (first : others)))) others
