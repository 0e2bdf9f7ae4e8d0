-- threadStatus of running, blocked, finished and died threads; ThreadId equality, order and labels.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import GHC.Conc

-- Waits until the thread is as it should be; an answer that never comes is told as it is.
settles :: (ThreadStatus -> Bool) -> ThreadId -> IO ThreadStatus
settles p t = go (60000 :: Int)
  where
    go n = do
      s <- threadStatus t
      if p s || n == 0 then return s else threadDelay 1000 >> go (n - 1)

-- It has ended, or waits for more than another thread's evaluation of something.
stopped :: ThreadStatus -> Bool
stopped s = case s of
  ThreadRunning -> False
  ThreadBlocked BlockedOnBlackHole -> False
  _ -> True

main :: IO ()
main = do
  me <- myThreadId
  labelThread me "main thread"
  threadStatus me >>= print
  gate <- newEmptyMVar :: IO (MVar ())
  tv <- newTVarIO False
  a <- forkIO (takeMVar gate)
  b <- forkIO (atomically (readTVar tv >>= check))
  c <- forkIO (return ())
  d <- forkIO (throwIO ThreadKilled)
  labelThread a "taker"
  mapM (settles stopped) [a, b, c, d] >>= print
  print (me == me, a == b, compare a b, a < c)
  print (take 9 (show me))
  putMVar gate ()
  atomically (writeTVar tv True)
  mapM (settles (== ThreadFinished)) [a, b] >>= print
  -- An exception for a finished thread is dropped without blocking.
  killThread c
  throwTo d Overflow
  m <- mkWeakThreadId a
  print (maybe "gone" (const "found") (Just m))
  t <- forkIO (threadDelay 100000000)
  s <- settles stopped t
  print (case s of { ThreadBlocked _ -> "blocked in delay"; other -> show other })
  killThread t
  settles (`elem` [ThreadFinished, ThreadDied]) t >>= print
