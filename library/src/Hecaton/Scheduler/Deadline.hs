-- | Earliest deadline first. A deadline is a time of 'Hecaton.Substrate.clock', in nanoseconds; what runs after its
-- deadline is up to the program.
--
-- > scheduler <- Deadline.new
-- > now <- atomically clock
-- > forkInAs scheduler (now + 5000000) work
--
-- A thread gets another deadline by 'migrateAs' to the same scheduler. Of threads with the same one, the first that
-- became able to run is first.
module Hecaton.Scheduler.Deadline (new, policy, never) where

import Data.Word (Word64)
import Hecaton.Scheduler
import Hecaton.Scheduler.Ordered

-- | The deadline of threads that have none. They run when no others can.
never :: Word64
never = maxBound

-- | A scheduler without threads.
new :: IO (Scheduler Word64)
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy Word64 Word64)
policy = do
  threads <- newOrdered
  return
    Policy
      { usual = never,
        arrive = return,
        put = insert threads,
        next = takeLeast threads
      }
