-- On several HECs: thunks that eight threads enter at the same moment have one value, are not evaluated by each of them
-- for long, and wake all waiting threads.
-- ghc: -O -threaded
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.IO.Unsafe

steps :: IORef Int
steps = unsafePerformIO (newIORef 0)
{-# NOINLINE steps #-}

-- Counts every thousand steps, whichever thread makes them.
work :: Int -> Int
work n = go 0 n
  where
    go acc 0 = acc
    go acc i
      | i `mod` 1000 == 0 = unsafeDupablePerformIO (atomicModifyIORef' steps (\c -> (c + 1, ()))) `seq` go (acc + 1) (i - 1)
      | otherwise = go (acc + length [i .. i + 3] - 3) (i - 1)
{-# NOINLINE work #-}

-- All threads wait at a gate, then enter the same thunk.
together :: Int -> a -> IO [a]
together n x = do
  gate <- newEmptyMVar
  dones <- replicateM n $ do
    done <- newEmptyMVar
    _ <- forkIO (readMVar gate >> evaluate x >>= putMVar done)
    return done
  putMVar gate ()
  mapM takeMVar dones

main :: IO ()
main = do
  big <- together 8 (work 3000000)
  print big
  n <- readIORef steps
  putStrLn (if n < 3 * 3000 then "evaluated about once" else "evaluated again and again: " ++ show n)
  -- Many small ones, each depending on the one before.
  let chain = scanl (\a i -> a + work (i `mod` 50) `mod` 7) 0 [1 .. 3000] :: [Int]
  rs <- together 8 (sum chain)
  print rs
  -- Lists that are consumed by all while they are made.
  rss <- forM [1 .. 40] $ \k -> together 6 (foldr (\a b -> (a + b) `mod` 1009) 0 (map (* k) (takeWhile (< 2000) (iterate (+ 1) 0))))
  print (sum (map sum rss) :: Int, all (\r -> all (== head r) r) rss)
