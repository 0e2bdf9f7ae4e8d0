-- Deadlock is found at once without OS threads, on an MVar and in a transaction.
-- ghc: -O
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception

main :: IO ()
main = do
  m <- newEmptyMVar :: IO (MVar ())
  r <- try (takeMVar m)
  print (r :: Either BlockedIndefinitelyOnMVar ())
  tv <- newTVarIO False
  r2 <- try (atomically (readTVar tv >>= check))
  print (r2 :: Either BlockedIndefinitelyOnSTM ())
  r3 <- try (evaluate (let x = x + 1 :: Int in x))
  print (either (\e -> show (e :: NonTermination)) show r3)
