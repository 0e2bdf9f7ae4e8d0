-- The spectral norm of a matrix, by repeated multiplication: in each, threads compute the parts of the product.
-- Argument: the size of the matrix.
-- ghc: -O
-- needs: hecaton
import Control.Monad
import Data.Array.Unboxed
import System.Environment
import Text.Printf
import Threads

type Vector = UArray Int Double

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  (u, v) <- withThreads $ \fork -> do
    let square = multiply fork a >=> multiply fork (flip a)
        step u = square u >>= square
    u <- foldM (const . step) (listArray (0, n - 1) (repeat 1)) [1 .. 9 :: Int]
    v <- square u
    u' <- square v
    return (u', v)
  printf "%.9f\n" (sqrt (dot u v / dot v v))

a :: Int -> Int -> Double
a i j = 1 / fromIntegral ((i + j) * (i + j + 1) `div` 2 + i + 1)

dot :: Vector -> Vector -> Double
dot u v = sum (zipWith (*) (elems u) (elems v))

-- | The product of a matrix and a vector, in four parts.
multiply :: Fork -> (Int -> Int -> Double) -> Vector -> IO Vector
multiply fork matrix v = listArray (bounds v) . concatMap elems <$> forkAll fork (map (return . part) [0 .. parts - 1])
  where
    parts = 4
    n = rangeSize (bounds v)
    part k = listArray (from, to - 1) [row i 0 0 | i <- [from .. to - 1]] :: Vector
      where
        (from, to) = (k * n `div` parts, (k + 1) * n `div` parts)
    row i j total
      | j == n = total
      | otherwise = row i (j + 1) (total + matrix i j * v ! j)
{-# INLINE multiply #-}
