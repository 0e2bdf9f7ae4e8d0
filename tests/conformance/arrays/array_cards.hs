-- Boxed mutable arrays longer than one card and than one block: only touched cards need be looked at, and all of them
-- must be.
import Control.Monad
import Data.Array.IO
import Data.IORef
import System.Mem

check :: IOArray Int [Int] -> [Int] -> IO Int
check a is = sum <$> mapM (fmap sum . readArray a) is

main :: IO ()
main = forM_ [1, 127, 128, 129, 255, 1000, 8191, 8193, 40000] $ \n -> do
  a <- newArray (0, n - 1) [] :: IO (IOArray Int [Int])
  performMajorGC
  performMajorGC
  let ends = filter (< n) ([0, 1, 126, 127, 128, 129, 255, 256, 511, 512] ++ [n - 1])
  forM_ [1 .. 4 :: Int] $ \r -> do
    forM_ ends $ \i -> readArray a i >>= \old -> writeArray a i ((r * 1000 + i) : old)
    performMinorGC
    forM_ [0, 61 .. n - 1] $ \i -> readArray a i >>= \old -> writeArray a i (r : old)
    performMinorGC
  x <- check a ends
  y <- check a [0 .. n - 1]
  print (n, x, y)
