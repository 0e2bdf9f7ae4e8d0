-- Weak pointers to MVar, TVar, ThreadId and plain data keys made opaque.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import System.Mem
import System.Mem.Weak

alive :: Weak a -> IO String
alive w = maybe "dead" (const "alive") <$> deRefWeak w

main :: IO ()
main = do
  mv <- newMVar 'm'
  wm <- mkWeakMVar mv (return ())
  tv <- newTVarIO 't'
  wt <- mkWeakTVar tv (return ())
  gate <- newEmptyMVar
  t <- forkIO (takeMVar gate)
  wth <- mkWeakThreadId t
  performMajorGC
  mapM_ (>>= putStrLn) [alive wm, alive wt, alive wth]
  readMVar mv >>= print
  readTVarIO tv >>= print
  putMVar gate ()
  threadDelay 2000
  print (t == t)
  performMajorGC
  performMajorGC
  mapM_ (>>= putStrLn) [alive wm, alive wt]
  replicateM_ 2 performMajorGC
