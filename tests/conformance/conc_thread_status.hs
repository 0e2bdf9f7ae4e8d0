-- threadStatus of running, blocked, finished and died threads; ThreadId equality, order and labels.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import GHC.Conc

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
  threadDelay 5000
  mapM threadStatus [a, b, c, d] >>= print
  print (me == me, a == b, compare a b, a < c)
  print (take 9 (show me))
  putMVar gate ()
  atomically (writeTVar tv True)
  threadDelay 5000
  mapM threadStatus [a, b] >>= print
  -- An exception for a finished thread is dropped without blocking.
  killThread c
  throwTo d Overflow
  m <- mkWeakThreadId a
  print (maybe "gone" (const "found") (Just m))
  t <- forkIO (threadDelay 1000000)
  threadDelay 2000
  s <- threadStatus t
  print (case s of { ThreadBlocked _ -> "blocked in delay"; other -> show other })
  killThread t
  threadDelay 5000
  threadStatus t >>= print
