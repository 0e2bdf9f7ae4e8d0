-- A timer that was cancelled, fired or timed out keeps nothing alive, nor does a wait that was answered or killed.
import Control.Concurrent
import Data.IORef
import GHC.Event
import System.Mem
import System.Mem.Weak
import System.Posix.IO
import System.Timeout
import Waits

-- Collects until the key is gone, a few times at most.
gone :: String -> Weak a -> IO ()
gone what k = go (20 :: Int)
  where
    go 0 = putStrLn (what ++ ": kept")
    go n = do
      performMajorGC
      deRefWeak k >>= maybe (putStrLn (what ++ ": gone")) (const (threadDelay 1000 >> go (n - 1)))

main :: IO ()
main = do
  m <- getSystemTimerManager
  (r, w) <- createPipe
  let fresh = newIORef 'x' >>= \x -> (,) x <$> mkWeakIORef x (return ())
  (x1, k1) <- fresh
  t1 <- registerTimeout m 100000000 (writeIORef x1 'y')
  unregisterTimeout m t1
  gone "cancelled" k1
  (x2, k2) <- fresh
  fired <- newEmptyMVar
  _ <- registerTimeout m 1000 (readIORef x2 >>= putMVar fired)
  takeMVar fired >>= print
  gone "fired" k2
  (x3, k3) <- fresh
  timeout 100000000 (readIORef x3) >>= print
  gone "in time" k3
  (x4, k4) <- fresh
  timeout 1000 (threadDelay 100000000 >> writeIORef x4 'z') >>= print
  gone "timed out" k4
  (x5, k5) <- fresh
  killed <- spawn (threadWaitRead r >> writeIORef x5 'z')
  killThread (fst killed)
  gone "killed in a wait" k5
  (x6, k6) <- fresh
  sleeper <- spawn (threadDelay 100000000 >> writeIORef x6 'z')
  killThread (fst sleeper)
  gone "killed in a delay" k6
  (x7, k7) <- fresh
  answered <- spawn (threadWaitRead r >> readIORef x7)
  _ <- fdWrite w "x"
  report "answered" answered
  gone "answered" k7
