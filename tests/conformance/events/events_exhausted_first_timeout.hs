-- No descriptor is left when a program first asks for a time limit, a delay, and a timer: they work.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import GHC.Event
import System.Posix.IO
import System.Posix.Resource
import System.Posix.Types
import System.Timeout
import Ticker

main :: IO ()
main = do
  awaitTicker
  (r, _) <- createPipe
  limits <- getResourceLimit ResourceOpenFiles
  setResourceLimit ResourceOpenFiles limits {softLimit = ResourceLimit 100}
  let go = (try (dup r) :: IO (Either IOException Fd)) >>= either (const (return ())) (const go)
  go
  timeout 2000 (threadDelay 100000000) >>= print
  threadDelay 1000
  due <- registerDelay 1000
  atomically (readTVar due >>= check)
  timeout 2000 (threadWaitRead r) >>= print
  v <- newEmptyMVar
  tm <- getSystemTimerManager
  _ <- registerTimeout tm 1000 (putMVar v "timer")
  takeMVar v >>= putStrLn
