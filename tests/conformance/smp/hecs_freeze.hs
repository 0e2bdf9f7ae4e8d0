-- On several HECs: work on a thunk that exceptions interrupt is resumed by a thread that needs it, not begun again.
-- ghc: -O -threaded
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.IO.Unsafe
import System.Timeout

steps :: IORef Int
steps = unsafePerformIO (newIORef 0)
{-# NOINLINE steps #-}

work :: Int -> Int
work n = go 0 n
  where
    go acc 0 = acc
    go acc i
      | i `mod` 1000 == 0 = unsafeDupablePerformIO (atomicModifyIORef' steps (\c -> (c + 1, ()))) `seq` go (acc + 1) (i - 1)
      | otherwise = go (acc + length [i .. i + 3] - 3) (i - 1)
{-# NOINLINE work #-}

size :: Int
size = 3000000

main :: IO ()
main = do
  let x = work size
  done <- newEmptyMVar
  -- Forty evaluators, one after another, each killed after a little while; waiters all along.
  waiters <- replicateM 4 (do { v <- newEmptyMVar; _ <- forkIO (persist 500 x >>= putMVar v); return v })
  forM_ [1 .. 40 :: Int] $ \_ -> do
    t <- forkIO (void (evaluate x))
    threadDelay 1000
    killThread t
  _ <- forkIO (evaluate x >>= putMVar done)
  r <- takeMVar done
  rs <- mapM takeMVar waiters
  print (r, rs)
  n <- readIORef steps
  putStrLn (if n < 6 * size `div` 1000 then "resumed" else "begun again and again: " ++ show n)
  -- Frozen in the middle of unsafePerformIO: each effect happens once.
  effects <- newIORef (0 :: Int)
  forM_ [1 .. 30 :: Int] $ \r -> do
    let y = unsafePerformIO (forM_ [1 .. 50 :: Int] (\i -> atomicModifyIORef' effects (\c -> (c + 1, ())) >> busy i) >> return 7) :: Int
        busy i = evaluate (length (filter even [i + r .. 5000])) >> yield
    ts <- replicateM 4 (forkIO (void (evaluate y)))
    threadDelay 100
    mapM_ killThread ts
    vs <- replicateM 4 (do { v <- newEmptyMVar; _ <- forkIO (evaluate y >>= putMVar v); return v })
    rs' <- mapM takeMVar vs
    when (rs' /= [7, 7, 7, 7]) (print rs')
  readIORef effects >>= print

-- Asks again when it is interrupted.
persist :: Int -> Int -> IO Int
persist micros x = timeout micros (evaluate x) >>= maybe (persist (micros + 100) x) return
