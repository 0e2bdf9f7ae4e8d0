-- | Priorities with aging: the thread with the greatest priority runs, and a thread that can run gains a priority each
-- time a number of others have been chosen. So each runs some time.
--
-- If the greatest priority is @p@, and aging takes @a@ choices, then a thread of priority @q@ is chosen after at most
-- @a * (p - q)@ choices, and those of the threads that were waiting before.
module Hecaton.Scheduler.Priority (new, newWith, policy) where

import Control.Concurrent.STM
import Control.Monad
import Hecaton.Scheduler
import Hecaton.Scheduler.Ordered

-- | Threads have priority 0 if nothing else is said. They gain one after 100 choices.
new :: IO (Scheduler Int)
new = newWith 100

-- | After how many choices a thread that can run gains a priority.
newWith :: Int -> IO (Scheduler Int)
newWith choices = policy choices >>= newScheduler

-- | What it does with its threads.
policy :: Int -> IO (Policy Int Int)
policy choices
  | choices < 1 = ioError (userError "Hecaton.Scheduler.Priority: aging takes at least one choice")
  | otherwise = do
    threads <- newOrdered
    chosen <- newTVarIO 0
    return
      Policy
        { usual = 0,
          arrive = return,
          -- All threads age alike, so their order is that of the times at which they would have priority 0.
          put = \priority s -> do
            now <- readTVar chosen
            insert threads (now - toInteger choices * toInteger priority) s,
          next = do
            first <- takeLeast threads
            forM_ first (const (modifyTVar' chosen (+ 1)))
            return first
        }
