-- killThread reaches a thread in every kind of wait: MVar, STM, delay, throwTo, computation, safe foreign call's
-- return.
-- skip-kinds: Lifo-N1; a thread that computes or yields for ever runs alone under this order
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad

report :: String -> IO () -> IO ()
report name act = do
  started <- newEmptyMVar
  out <- newEmptyMVar
  t <- forkIO ((putMVar started () >> act >> putMVar out "returned") `catch` \e -> putMVar out (show (e :: AsyncException)))
  takeMVar started
  replicateM_ 3 yield
  killThread t
  s <- takeMVar out
  putStrLn (name ++ ": " ++ s)

main :: IO ()
main = do
  empty <- newEmptyMVar :: IO (MVar ())
  full <- newMVar ()
  tv <- newTVarIO False
  report "takeMVar" (takeMVar empty)
  report "putMVar" (putMVar full ())
  report "readMVar" (readMVar empty)
  report "retry" (atomically (readTVar tv >>= check))
  report "orElse" (atomically ((readTVar tv >>= check) `orElse` retry))
  report "threadDelay" (threadDelay 100000000)
  report "loop" (forever (return $! product [1 .. 100 :: Integer]) >> return ())
  report "yield loop" (forever yield >> return ())
  deaf <- newEmptyMVar
  sleeper <- mask_ (forkIO (uninterruptibleMask_ (takeMVar deaf)))
  yield
  report "throwTo" (killThread sleeper)
  putMVar deaf ()
  -- The MVars are as before: no dead thread is left in their queues.
  putMVar empty ()
  takeMVar empty
  takeMVar full
  isEmptyMVar full >>= print
  isEmptyMVar empty >>= print
