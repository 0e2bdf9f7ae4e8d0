-- registerDelay, readTVarIO against a waiting transaction, unsafeIOToSTM, mkWeakTVar.
import Control.Concurrent.STM
import Control.Concurrent
import GHC.Conc (unsafeIOToSTM)
import Data.IORef

main :: IO ()
main = do
  t1 <- registerDelay 100000000
  before <- readTVarIO t1
  d <- registerDelay 20000
  atomically (readTVar d >>= check)
  after <- readTVarIO d
  print (before, after)
  r <- newIORef (0 :: Int)
  x <- atomically (unsafeIOToSTM (modifyIORef r (+ 1)) >> return 'x')
  n <- readIORef r
  print (x, n >= 1)
  t2 <- registerDelay 10000
  w <- atomically ((readTVar t1 >>= check >> return "slow") `orElse` (readTVar t2 >>= check >> return "fast"))
  putStrLn w
  tv <- newTVarIO 'k'
  wk <- mkWeakTVar tv (return ())
  readTVarIO tv >>= print
  seq wk (threadDelay 0)
