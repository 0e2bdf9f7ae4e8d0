-- A lost lock: a thread that is killed after it has taken the lock, and before its handler stands, does not give the
-- lock back. 'withMVar' masks exceptions in between.
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef

withLock :: MVar () -> IO a -> IO a
withLock lock action = do
  takeMVar lock
  action `finally` putMVar lock ()

main :: IO ()
main = do
  lock <- newMVar ()
  counter <- newIORef (0 :: Integer)
  let count = withLock lock (modifyIORef' counter (+ 1))
  helper <- forkIO (replicateM_ 10 count)
  replicateM_ 10 count
  -- What the helper has not done by now is not needed any more.
  killThread helper
  withLock lock (readIORef counter >>= print)
