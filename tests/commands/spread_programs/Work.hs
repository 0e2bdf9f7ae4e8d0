module Main (main) where
import Control.Concurrent
import Control.Exception
import Control.Monad (void)
import Control.Parallel
import Control.Parallel.Strategies
import Data.Array
import Data.IORef
import Data.List
import qualified Data.Map as M
import System.Environment
import System.IO.Unsafe

parFib :: Int -> Int -> Integer
parFib grain n
  | n < grain = fib n
  | otherwise = let a = parFib grain (n - 1); b = parFib grain (n - 2) in a `par` (b `pseq` a + b)

fib :: Int -> Integer
fib n = if n < 2 then 1 else fib (n - 1) + fib (n - 2)

queens :: Int -> Int -> Int
queens n depth = go 0 []
  where
    go k qs
      | k == n = 1
      | k < depth = sum (parMap rseq (\q -> go (k + 1) (q : qs)) next)
      | otherwise = sum [go (k + 1) (q : qs) | q <- next]
      where
        next = [q | q <- [1 .. n], safe q qs]
    safe q qs = and [q /= c && abs (q - c) /= d | (d, c) <- zip [1 ..] qs]

sumEuler :: Int -> Int -> Int
sumEuler size n = sum (map (sum . map euler) (chunks [1 .. n]) `using` parList rdeepseq)
  where
    euler k = length [() | j <- [1 .. k], gcd k j == 1]
    chunks [] = []
    chunks xs = let (a, b) = splitAt size xs in a : chunks b

data Tree = Leaf | Node Tree Int Tree

tree :: Int -> Tree
tree 0 = Leaf
tree n = let l = tree (n - 1); r = tree (n - 1) in l `par` (r `pseq` Node l n r)

sumTree :: Tree -> Int
sumTree Leaf = 0
sumTree (Node l x r) = let a = sumTree l; b = sumTree r in a `par` (b `pseq` a + x + b)

-- | Each element needs others, which may be under evaluation anywhere.
paths :: Int -> Integer
paths n = (elems table `using` parListChunk 40 rseq) `seq` table ! (n, n)
  where
    table = listArray ((0, 0), (n, n)) (map cell (range ((0, 0), (n, n))))
    cell (i, j) = if i == 0 || j == 0 then 1 else table ! (i - 1, j) + table ! (i, j - 1)

counter :: IORef Int
counter = unsafePerformIO (newIORef 0)
{-# NOINLINE counter #-}

main :: IO ()
main = do
  [grain, size] <- map read <$> getArgs
  print (parFib grain size)
  print (queens 9 3)
  print (sumEuler 20 1000)
  let t = tree 15
  print (sumTree t, sumTree t)
  print (paths 60)
  -- Large data that all sparks need.
  let m = M.fromList [(k, [k .. k + 20]) | k <- [1 .. 2000 :: Int]]
      part i = sum (concat (M.elems (M.filterWithKey (\k _ -> k `mod` 10 == i) m)))
  print (sum (map part [0 .. 9] `using` parList rseq))
  -- A result that is larger than a packet, and lazy.
  let strings = parMap rseq (\k -> map (\j -> show (j * k)) [1 .. 300]) [1 .. 200 :: Int]
  print (foldl' (\h c -> (h * 31 + fromEnum c) `mod` 1000003) 7 (concat (concat strings)))
  let functions = parMap rseq (\k -> let j = k * size in \x -> x * j + k) [1 .. 200 :: Int]
  print (foldl' (\x f -> f x `mod` 1000003) 1 functions)
  -- Exceptions are values of the sparks that raise them.
  let xs = parMap rseq (\k -> if k == 50 then throw (userError "bad") else k * k) [1 .. 100 :: Int]
  r <- try (evaluate (sum xs))
  print (r :: Either IOException Int)
  r <- try (evaluate (xs !! 49))
  print (r :: Either IOException Int)
  print (sum (take 49 xs))
  -- Sparks that use what stays.
  ref <- newIORef (5 :: Int)
  let reads = parMap rseq (\k -> k + unsafeDupablePerformIO (readIORef ref)) [1 .. 100 :: Int]
  print (sum reads)
  -- Threads that wait for sparks, and are killed while they do.
  waiting <- newEmptyMVar
  let slow = parFib (grain + 2) (size + 1)
  thread <- slow `par` forkFinally (void (evaluate slow)) (const (putMVar waiting ()))
  threadDelay 1000
  killThread thread
  takeMVar waiting
  print slow
