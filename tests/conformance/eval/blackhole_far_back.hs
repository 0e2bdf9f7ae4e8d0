-- A thunk whose thread waits behind many others that run: a thread that needs it resumes the work, which is done once.
-- ghc: -O
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.IO.Unsafe

steps :: IORef Int
steps = unsafePerformIO (newIORef 0)
{-# NOINLINE steps #-}

-- Threads that do nothing in between go on in it at the same place.
work :: Int -> Int -> Int
work seed n = unsafePerformIO (go seed n)
  where
    go acc 0 = return acc
    go acc i = do
      when (i `mod` 100 == 0) (modifyIORef' steps (+ 1))
      when (i `mod` 5000 == 0) yield
      go ((acc * 31 + i) `mod` 1000003) (i - 1)
{-# NOINLINE work #-}

spin :: IORef Bool -> Int -> IO Int
spin stop n = do
  stopped <- readIORef stop
  if stopped then return n else yield >> spin stop (n + 1)

main :: IO ()
main = do
  stop <- newIORef False
  forM_ [1 .. 8 :: Int] $ \seed -> do
    let x = work seed 100000
        y = sum [x, x + 1, length (show x)]
    begun <- newEmptyMVar
    _ <- forkIO (putMVar begun () >> void (evaluate y))
    takeMVar begun
    yield
    others <- replicateM 150 (do { v <- newEmptyMVar; _ <- forkIO (spin stop 0 >>= putMVar v); return v })
    wanted <- replicateM 5 (do { v <- newEmptyMVar; _ <- forkIO (evaluate y >>= putMVar v); return v })
    rs <- mapM takeMVar wanted
    writeIORef stop True
    mapM_ takeMVar others
    writeIORef stop False
    print rs
  readIORef steps >>= print
