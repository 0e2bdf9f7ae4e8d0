-- Thunks that are unknown applications (f x y z ...), evaluated after collections, each updated exactly once.
-- ghc: -O -fno-full-laziness -threaded
import Data.IORef
import System.IO.Unsafe
import System.Mem

counter :: IORef Int
counter = unsafePerformIO (newIORef 0)
{-# NOINLINE counter #-}

tick :: a -> a
tick x = unsafePerformIO (modifyIORef' counter (+ 1) >> return x)
{-# NOINLINE tick #-}

{-# NOINLINE ap #-}
ap1 :: (a -> r) -> a -> [r]
ap1 f a = let t = f a in [t, t]
ap, ap3 :: (Int -> Int -> Int -> Int) -> Int -> [Int]
ap f a = let t = f a a a in [t, t, t]
ap3 f a = let t = f (a + 1) a (a - 1) in [t, t]
{-# NOINLINE ap1 #-}
{-# NOINLINE ap3 #-}
ap5 :: (a -> b -> c -> d -> e -> r) -> a -> b -> c -> d -> e -> [r]
ap5 f a b c d e = let t = f a b c d e in [t, t]
{-# NOINLINE ap5 #-}

main :: IO ()
main = do
  let xs = ap1 (tick . (+ 1)) (1 :: Int)
      ys = ap (\a b c -> tick (a * b + c)) 7
      zs = ap3 (\a b c -> tick (a * b * c)) 5
      ws = ap5 (\a b c d e -> tick (a, b, c, d, e)) 'a' True (2 :: Int) "s" (1.5 :: Double)
  performGC
  print xs
  print ys
  performGC
  print (ys, zs)
  print ws
  print (length ws + length zs + sum ys)
  readIORef counter >>= print
