-- Algorithms on ST arrays: boxed dynamic programming, unboxed union-find, in-place quicksort.
{-# LANGUAGE FlexibleContexts #-}
import Control.Monad
import Control.Monad.ST
import Data.Array
import Data.Array.ST
import Data.Array.Unboxed (UArray)
import qualified Data.Array.Unboxed as U
import Data.STRef

knapsack :: Int -> [(Int, Integer)] -> Integer
knapsack cap items = runST $ do
  t <- newArray (0, cap) 0 :: ST s (STArray s Int Integer)
  forM_ items $ \(w, v) -> forM_ [cap, cap - 1 .. w] $ \c -> do
    a <- readArray t c
    b <- readArray t (c - w)
    when (b + v > a) (writeArray t c $! b + v)
  readArray t cap

components :: Int -> [(Int, Int)] -> Int
components n es = runST $ do
  p <- newListArray (0, n - 1) [0 ..] :: ST s (STUArray s Int Int)
  k <- newSTRef n
  let find x = do
        y <- readArray p x
        if y == x then return x else do { r <- find y; writeArray p x r; return r }
  forM_ es $ \(a, b) -> do
    ra <- find a
    rb <- find b
    when (ra /= rb) (writeArray p ra rb >> modifySTRef' k (subtract 1))
  readSTRef k

qsort :: [Int] -> UArray Int Int
qsort xs = runSTUArray $ do
  let n = length xs
  a <- newListArray (0, n - 1) xs
  let go lo hi = when (lo < hi) $ do
        pivot <- readArray a ((lo + hi) `div` 2)
        let loop i j
              | i > j = go lo j >> go i hi
              | otherwise = do
                  i' <- up i
                  j' <- down j
                  if i' <= j'
                    then do { x <- readArray a i'; y <- readArray a j'; writeArray a i' y; writeArray a j' x; loop (i' + 1) (j' - 1) }
                    else loop i' j'
            up i = readArray a i >>= \x -> if x < pivot then up (i + 1) else return i
            down j = readArray a j >>= \x -> if x > pivot then down (j - 1) else return j
        loop lo hi
  go 0 (n - 1)
  return a

main :: IO ()
main = do
  print (knapsack 500 [ (3 + i * 7 `mod` 31, fromIntegral (10 + i * 13 `mod` 47)) | i <- [1 .. 40] ])
  print (components 5000 [ (i, (i * i + 7) `mod` 5000) | i <- [0, 3 .. 4999] ])
  let s = qsort (take 5000 (iterate (\x -> (x * 1103515245 + 12345) `mod` 65537) 42))
  print (and (zipWith (<=) (U.elems s) (tail (U.elems s))), s U.! 0, s U.! 4999, sum (U.elems s))
  print (elems (runSTArray (newArray (0, 3) 'x' >>= \a -> writeArray a 2 'y' >> return a)))
