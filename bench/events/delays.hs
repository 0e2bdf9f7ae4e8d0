-- Many threads that each sleep and count themselves, as in the paper on the event manager ([OT10, §9.2]). Arguments:
-- how many, and for how many microseconds.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [threads, micros] <- map read <$> getArgs
  count <- newTVarIO 0
  done <- newTVarIO False
  runInUnboundThread $ do
    replicateM_ threads . forkIO $ do
      threadDelay micros
      atomically $ do
        n <- (+ 1) <$> readTVar count
        writeTVar count $! n
        when (n == threads) $ writeTVar done True
    atomically $ readTVar done >>= check
