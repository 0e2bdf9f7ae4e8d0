-- Mutable arrays: Eratosthenes' sieve in an unboxed ST array, and sums over it.
-- args: 40000000
{-# LANGUAGE FlexibleContexts #-}
import Control.Monad
import Data.Array.ST
import Data.Array.Unboxed
import Data.Array.Base (unsafeRead, unsafeWrite)
import System.Environment

primes :: Int -> UArray Int Bool
primes n = runSTUArray $ do
  a <- newArray (0, n) True
  forM_ [2 .. isqrt n] $ \i -> do
    p <- unsafeRead a i
    when p (cross a (i * i) i)
  return a
  where
    cross a j i | j > n = return ()
                | otherwise = unsafeWrite a j False >> cross a (j + i) i
    isqrt = floor . sqrt . (fromIntegral :: Int -> Double)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let s = primes n
  print (length (filter (s !) [2 .. n]))
  print (sum [ i | i <- [n - 100000 .. n], s ! i ] `mod` 1000007)
