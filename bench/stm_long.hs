-- STM: a transaction over 20,000 variables beside another thread that changes two of them all the time, for two seconds
-- at most.
-- aim: elapsed 0.1
-- args: 20000
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import GHC.Clock
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  setNumCapabilities 2
  vars <- replicateM n (newTVarIO (0 :: Int))
  begun <- getMonotonicTime
  over <- newTVarIO False
  ended <- newEmptyMVar
  let change (a : b : rest) = do
        atomically (modifyTVar' a (subtract 1) >> modifyTVar' b (+ 1))
        now <- getMonotonicTime
        stop <- readTVarIO over
        if stop || now - begun > 2 then putMVar ended () else change rest
      change _ = return ()
  _ <- forkOn 1 (change (cycle vars))
  sums <- newEmptyMVar
  _ <- forkOn 0 (replicateM 5 (atomically (foldM (\s v -> (s +) <$> readTVar v) 0 vars)) >>= putMVar sums)
  print =<< takeMVar sums
  atomically (writeTVar over True)
  takeMVar ended
