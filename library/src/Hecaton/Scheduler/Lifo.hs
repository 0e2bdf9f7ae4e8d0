-- | Last in, first out: the thread runs next that became able to run last. A thread that yields, or whose time slice
-- is over, is the last one, and runs again at once. So each thread runs until it waits or ends, and those at the bottom
-- may wait for long.
module Hecaton.Scheduler.Lifo (new, policy) where

import Control.Concurrent.STM
import Hecaton.Scheduler

-- | A stack without threads.
new :: IO (Scheduler ())
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy () ())
policy = do
  stack <- newTVarIO []
  return
    Policy
      { usual = (),
        arrive = return,
        put = \() s -> modifyTVar' stack (s :),
        next = do
          threads <- readTVar stack
          case threads of
            [] -> return Nothing
            s : others -> writeTVar stack others >> return (Just s)
      }
