-- A thread blocked on an MVar that others can reach, through a stable pointer or a runnable thread, is not deadlocked.
-- skip-kinds: Lifo; it yields to let others wait, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Exception
import Foreign.StablePtr
import System.Mem

main :: IO ()
main = do
  out <- newEmptyMVar
  m <- newEmptyMVar :: IO (MVar Int)
  sp <- newStablePtr m
  _ <- forkIO ((takeMVar m >>= putMVar out . Right) `catch` \e -> putMVar out (Left (show (e :: BlockedIndefinitelyOnMVar))))
  yield
  performMajorGC
  yield
  m' <- deRefStablePtr sp
  putMVar m' 42
  takeMVar out >>= print
  freeStablePtr sp
  n <- newEmptyMVar :: IO (MVar Int)
  _ <- forkIO ((takeMVar n >>= putMVar out . Right) `catch` \e -> putMVar out (Left (show (e :: BlockedIndefinitelyOnMVar))))
  _ <- forkIO (threadDelay 20000 >> putMVar n 7)
  yield
  performMajorGC
  takeMVar out >>= print
  -- Its only sender gone, the next one is.
  k <- newEmptyMVar :: IO (MVar Int)
  _ <- forkIO ((takeMVar k >>= putMVar out . Right) `catch` \e -> putMVar out (Left (show (e :: BlockedIndefinitelyOnMVar))))
  yield
  performMajorGC
  takeMVar out >>= print
