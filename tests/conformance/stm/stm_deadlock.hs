-- BlockedIndefinitelyOnSTM, caught in main and in a child, and uncaught with its text and exit code.
-- args: +RTS -I0.02 -RTS
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Foreign.StablePtr

main :: IO ()
main = do
  tv <- newTVarIO False
  r <- try (atomically (readTVar tv >>= check))
  print (r :: Either BlockedIndefinitelyOnSTM ())
  r2 <- try (atomically retry)
  print (r2 :: Either BlockedIndefinitelyOnSTM ())
  sp <- myThreadId >>= newStablePtr
  out <- newEmptyMVar
  _ <- forkIO (atomically retry `catch` \e -> putMVar out (show (e :: BlockedIndefinitelyOnSTM)))
  takeMVar out >>= putStrLn
  freeStablePtr sp
  atomically ((retry `orElse` retry) :: STM ())
