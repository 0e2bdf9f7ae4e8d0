-- Threads that all set time limits at the same moment ([OT10, §8.3]). Arguments: how many threads, and how many time
-- limits each sets, one after the other. Prints the microseconds for each time limit.
import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Clock
import System.Environment
import System.Timeout

main :: IO ()
main = do
  [threads, limits] <- map read <$> getArgs
  start <- newEmptyMVar
  running <- newIORef threads
  done <- newEmptyMVar
  replicateM_ threads . forkIO $ do
    readMVar start
    -- The other threads set theirs before this one is over.
    replicateM_ limits (timeout 3600000000 yield)
    left <- atomicModifyIORef' running (\n -> (n - 1, n - 1))
    when (left == (0 :: Int)) $ putMVar done ()
  yield
  before <- getMonotonicTimeNSec
  putMVar start ()
  takeMVar done
  after <- getMonotonicTimeNSec
  print (fromIntegral (after - before) / 1000 / fromIntegral (threads * limits) :: Double)
