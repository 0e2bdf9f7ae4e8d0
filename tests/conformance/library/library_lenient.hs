-- What the plugin lets other HECs evaluate ahead has no effects before it is needed, keeps its exceptions, and need not
-- end.
-- ghc: -O -threaded -fplugin=Hecaton.Lenient
-- needs: hecaton
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.IO.Unsafe
import System.Mem

slow, endless :: Int -> Int
slow n = length (filter even [1 .. n])
{-# NOINLINE slow #-}
endless n = length (filter (> n) [n, n - 1 ..]) + n
{-# NOINLINE endless #-}

deep :: Int -> Integer
deep n = toInteger n + deep (n + 1)
{-# NOINLINE deep #-}

counter :: IORef Int
counter = unsafePerformIO (newIORef 0)
{-# NOINLINE counter #-}

counting :: Int -> Int
counting n = slow n + unsafePerformIO (n <$ modifyIORef counter (+ 1))
{-# NOINLINE counting #-}

data Tree = Leaf | Node Tree Int Tree

tree :: Int -> Int -> Tree
tree 0 _ = Leaf
tree d n = Node (tree (d - 1) (2 * n)) (slow (n `mod` 100)) (tree (d - 1) (2 * n + 1))

total :: Tree -> Int
total Leaf = 0
total (Node l n r) = total l + n + total r

-- Boxes with values that are not needed yet.
boxes :: Int -> (Int -> a) -> IO [IORef a]
boxes n f = forM [1 .. n] (\k -> newIORef (f k))

main :: IO ()
main = do
  n <- readIORef counter >>= \c -> return (c + 20000)
  -- No effect happens ahead.
  effects <- boxes 20 (\k -> counting (n + k))
  print (sum [slow (n + k) | k <- [1 .. 20]])
  yield
  readIORef counter >>= print
  mapM readIORef effects >>= print . sum
  readIORef counter >>= print
  -- An exception is raised where the value is needed, each time.
  failing <- boxes 5 (\k -> slow (n + k) `div` (k - k))
  yield
  forM_ failing $ \box -> do
    r <- readIORef box >>= try . evaluate :: IO (Either ArithException Int)
    print r
  -- What does not end is dropped with its boxes.
  forever' <- boxes 3 (\k -> endless (n + k))
  recursive <- boxes 3 (\k -> deep (n + k))
  print (total (tree 10 1))
  performGC
  mapM_ (`writeIORef` 0) forever'
  mapM_ (`writeIORef` 0) recursive
  performGC
  (,) <$> mapM readIORef forever' <*> mapM readIORef recursive >>= print
  -- Nor does it hide a deadlock.
  lasting <- newIORef (endless n)
  r <- newEmptyMVar >>= try . takeMVar :: IO (Either BlockedIndefinitelyOnMVar ())
  print r
  writeIORef lasting 1 >> readIORef lasting >>= print
  -- Threads share what is evaluated ahead.
  shared <- newIORef (slow (50 * n))
  results <- replicateM 4 newEmptyMVar
  forM_ results $ \result -> forkIO (readIORef shared >>= evaluate >>= putMVar result)
  mapM takeMVar results >>= print
