-- A top-level constant whose evaluation is interrupted can be demanded again, by another thread and by main.
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Mem

big :: [Integer]
big = scanl (\a n -> (a * 31 + n) `mod` (10 ^ (20 :: Int))) 1 [1 .. 60000]
{-# NOINLINE big #-}

total :: Integer
total = sum big
{-# NOINLINE total #-}

main :: IO ()
main = do
  forM_ [1 .. 10 :: Int] $ \k -> do
    t <- forkIO (void (evaluate total))
    replicateM_ (k `mod` 3) yield
    killThread t
    when (k `mod` 4 == 0) performMajorGC
  out <- newEmptyMVar
  _ <- forkIO (evaluate total >>= putMVar out)
  a <- takeMVar out
  print (a == total, total)
  print (length big)
