-- | Round robin with work sharing [SHMP14, §4.1]: threads run in turn. There is a queue for each HEC, new threads are
-- divided among the queues, and a HEC whose queue is empty takes from the others.
module Hecaton.Scheduler.RoundRobin (new, policy) where

import Control.Concurrent.STM
import Hecaton.Scheduler
import Hecaton.Scheduler.Queues

-- | A round robin without threads.
new :: IO (Scheduler ())
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy () Int)
policy = do
  queues <- newQueues
  placed <- newTVarIO 0
  return
    Policy
      { usual = (),
        arrive = \() -> stateTVar placed (\n -> (n, (n + 1) `mod` count queues)),
        put = putAt queues,
        next = takeThread queues (const 1)
      }
