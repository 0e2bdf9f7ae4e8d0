-- registerDelay, readTVarIO against a waiting transaction, unsafeIOToSTM, mkWeakTVar.
import Control.Concurrent.STM
import Control.Concurrent
import GHC.Conc (unsafeIOToSTM)
import Data.IORef

main :: IO ()
main = do
  d <- registerDelay 20000
  before <- readTVarIO d
  atomically (readTVar d >>= check)
  after <- readTVarIO d
  print (before, after)
  r <- newIORef (0 :: Int)
  x <- atomically (unsafeIOToSTM (modifyIORef r (+ 1)) >> return 'x')
  n <- readIORef r
  print (x, n >= 1)
  t1 <- registerDelay 5000000
  t2 <- registerDelay 10000
  w <- atomically ((readTVar t1 >>= check >> return "slow") `orElse` (readTVar t2 >>= check >> return "fast"))
  putStrLn w
  tv <- newTVarIO 'k'
  wk <- mkWeakTVar tv (return ())
  readTVarIO tv >>= print
  seq wk (threadDelay 0)
