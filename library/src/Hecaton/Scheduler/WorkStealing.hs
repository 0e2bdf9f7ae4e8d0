-- | Work stealing: threads stay on the HEC that makes them, or wakes them, as long as each HEC has some. There is a
-- queue for each HEC, in which threads run in turn. A HEC whose queue is empty takes half of another one.
module Hecaton.Scheduler.WorkStealing (new, policy) where

import Hecaton.Scheduler
import Hecaton.Scheduler.Queues

-- | A scheduler without threads.
new :: IO (Scheduler ())
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy () ())
policy = do
  queues <- newQueues
  return
    Policy
      { usual = (),
        arrive = return,
        put = \() s -> here queues >>= \hec -> putAt queues hec s,
        next = takeThread queues (\n -> (n + 1) `div` 2)
      }
