module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Control.Parallel
import Control.Parallel.Strategies
import qualified Data.Map.Lazy as M
import Hecaton.Cluster
import System.Environment
import System.IO
import System.IO.Unsafe
import System.Posix.Process (getProcessID)
import System.Posix.Signals

-- | Counts, and ends the process where the test has said (@faults.c@).
foreign import ccall unsafe "fault_tick" tick :: Int -> Int

parFib :: Int -> Int -> Integer
parFib grain n
  | n < grain = fib (tick n)
  | otherwise = let a = parFib grain (n - 1); b = parFib grain (n - 2) in a `par` (b `pseq` a + b)

fib :: Int -> Integer
fib n = if n < 2 then 1 else fib (n - 1) + fib (n - 2)

steps :: Int -> Int
steps k = sum (map (go 0) [k .. k + 150])
  where
    go s 1 = s
    go s n = s `seq` go (s + 1 :: Int) (if even n then n `div` 2 else 3 * n + 1)

-- | Only the first cell of each row is evaluated for the spark. The rest stays where that was.
rows :: Int -> Int -> [[Int]]
rows from n = map row [from .. from + n - 1] `using` parList rseq
  where
    row k = go 1
      where
        go i = if i > 60 then [] else steps (tick (k * i + 1)) : go (i + 1)

data Tree = Leaf | Node Tree Int Tree

-- | A spark evaluates one node. Its children are evaluated when they are needed, in whatever order and place.
tree :: Int -> Int -> Tree
tree 0 _ = Leaf
tree n k = let l = tree (n - 1) (2 * k); r = tree (n - 1) (2 * k + 1) in l `par` Node l (steps (tick k)) r

sumTree :: Tree -> Int
sumTree Leaf = 0
sumTree (Node l x r) = let a = sumTree l; b = sumTree r in a `par` (b `pseq` a + x + b)

-- | Values with functions that have captured what is not evaluated, and maps of such.
tables :: Int -> Int -> [M.Map Int (Int -> Int)]
tables from n = map table [from .. from + n - 1] `using` parList rseq
  where
    table k = M.fromList [(i, let x = steps (tick (k + i)) in \y -> x + y) | i <- [1 .. 30]]

-- | Handlers within a value do not see what happens to it.
guarded :: Int -> Int -> [Int]
guarded from n = map one [from .. from + n - 1] `using` parList rseq
  where
    shared = steps (tick (from + 77))
    one k = unsafePerformIO (evaluate (steps (tick k) + shared) `onException` void (return ()))

-- | Values that refer to values of other sparks.
chained :: Int -> Int -> [Integer]
chained from n = sums `using` parList rseq
  where
    sums = zipWith (+) (map (fromIntegral . steps . tick) [from .. from + n - 1]) (0 : sums)

work :: Int -> IO ()
work rounds = forM_ [1 .. rounds] $ \r -> do
  print (parFib 17 (26 + r `mod` 2))
  print (sum (map sum (rows (1000 * r) 40)))
  print (sumTree (tree 9 r))
  print (sum [f i | t <- tables (100 * r) 20, (i, f) <- M.toList t])
  print (sum (guarded (10 * r) 100))
  print (sum (chained r 100))
  hFlush stdout

-- | What an action comes to.
outcome :: Show a => String -> IO a -> IO ()
outcome name action = do
  result <- try action
  putStrLn (name ++ ": " ++ either (\e -> show (e :: SomeException)) show result)
  hFlush stdout

-- | Sends PE 1 a signal that it does not see coming.
signal :: Signal -> IO ()
signal s = remoteOn (PE 1) getProcessID >>= await >>= signalProcess s

lost :: Signal -> IO ()
lost how = do
  kept <- remoteOn (PE 1) (newMVar 'x') >>= await
  empty <- remoteOn (PE 1) newEmptyMVar >>= await :: IO (MVar Char)
  far <- remoteOn (PE 1) (myPE >>= \(PE k) -> pure (map steps [k .. 100000])) >>= await
  print (take 3 far)
  thread <- remoteOn (PE 1) (forkIO (threadDelay 60000000)) >>= await
  own <- newEmptyMVar
  waiting <- newEmptyMVar
  -- Waits for PE 1 here, and waits of PE 1 here.
  _ <- forkIO (outcome "waits" (takeMVar empty) >> putMVar waiting ())
  taker <- remoteOn (PE 1) (takeMVar own) :: IO (Future Char)
  future <- remoteOn (PE 1) (threadDelay 60000000)
  threadDelay 100000
  signal how
  takeMVar waiting
  outcome "future" (await future)
  outcome "taker" (await taker)
  outcome "kept" (readMVar kept)
  outcome "put" (putMVar empty 'y')
  outcome "list" (print (sum far))
  outcome "throw" (killThread thread)
  outcome "again" (remoteOn (PE 1) (pure 'z') >>= await)
  outcome "on" (evaluate (on (PE 1) (length (show (product [1 .. 1000 :: Integer])))))
  -- Nobody has taken what is put here: the thread that would have is killed.
  threadDelay 100000
  putMVar own 'o'
  threadDelay 100000
  outcome "own" (tryTakeMVar own)
  outcome "other" (remoteOn (PE 2) (pure 'z') >>= await)

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["work", rounds] -> work (read rounds)
    ["lost", "killed"] -> lost sigKILL
    ["lost", "stopped"] -> lost sigSTOP
    ["memory"] -> do
      outcome "memory" (remoteOn (PE 1) (evaluate (length (filled 100000000))) >>= await)
      outcome "work" (print (parFib 12 20))
    _ -> putStrLn "ready" >> hFlush stdout >> forever (threadDelay 1000000)

-- | A list that is kept while it grows.
filled :: Int -> [Int]
filled n = let xs = [1 .. n] in sum xs `seq` xs
