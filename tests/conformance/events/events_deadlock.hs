-- Deadlock is found beside delays and waits, and never in a thread that an event or a time-out may still wake.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import System.Mem
import System.Posix.IO
import System.Timeout
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  -- Woken by a delay, a descriptor, and a timer's variable that nothing else refers to.
  m <- newEmptyMVar
  _ <- forkIO (threadDelay 20000 >> putMVar m "delay")
  performMajorGC
  takeMVar m >>= putStrLn
  _ <- forkIO (threadWaitRead r >> putMVar m "descriptor")
  performMajorGC
  _ <- forkIO (threadDelay 5000 >> void (fdWrite w "x"))
  takeMVar m >>= putStrLn
  v <- registerDelay 10000
  performMajorGC
  atomically (readTVar v >>= check)
  -- A time-out's thread is reachable by its timer: it is not deadlocked.
  timeout 20000 (newEmptyMVar >>= \e -> performMajorGC >> takeMVar (e :: MVar ())) >>= print
  timeout 20000 (performMajorGC >> atomically retry :: IO ()) >>= print
  -- A thread that nothing can wake is told so while others sleep, or wait.
  sleeper <- spawn (threadDelay 100000000)
  reader <- spawn (fdRead r 1 >> threadWaitRead r)
  told <- newEmptyMVar
  _ <- forkIO ((newEmptyMVar >>= takeMVar :: IO ()) `catch` \e -> putMVar told (show (e :: BlockedIndefinitelyOnMVar)))
  threadDelay 1000
  performMajorGC
  takeMVar told >>= putStrLn
  _ <- forkIO (atomically retry `catch` \e -> putMVar told (show (e :: BlockedIndefinitelyOnSTM)))
  threadDelay 1000
  performMajorGC
  takeMVar told >>= putStrLn
  _ <- fdWrite w "y"
  report "reader" reader
  killThread (fst sleeper)
  report "sleeper" sleeper
