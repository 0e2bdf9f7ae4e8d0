-- | Which threads of a scheduler run, by HEC. A policy notes those that it chooses, and those that give up their HECs.
module Hecaton.Scheduler.Running (Running, newRunning, onHECs, runsHere, stops, leaves, givesUp) where

import Control.Concurrent.STM
import Control.Monad
import qualified Data.IntMap.Strict as IntMap
import Hecaton.Substrate

-- | Threads with what the policy keeps for each.
newtype Running own = Running (TVar (IntMap.IntMap (own, SCont)))

newRunning :: IO (Running own)
newRunning = Running <$> newTVarIO IntMap.empty

-- | The threads, with the numbers of their HECs.
onHECs :: Running own -> STM [(Int, (own, SCont))]
onHECs (Running running) = IntMap.toList <$> readTVar running

-- | What the policy has chosen for this HEC.
runsHere :: Running own -> Maybe (own, SCont) -> STM ()
runsHere (Running running) chosen =
  getCurrentHEC >>= \hec -> modifyTVar' running (IntMap.alter (const chosen) hec)

-- | The thread does not run any more. Did it?
stops :: Running own -> SCont -> STM Bool
stops (Running running) s = do
  (its, others) <- IntMap.partition ((== threadOf s) . threadOf . snd) <$> readTVar running
  unless (IntMap.null its) (writeTVar running others)
  return (not (IntMap.null its))

-- | The thread does not run on this HEC any more.
leaves :: Running own -> SCont -> STM ()
leaves (Running running) s = getCurrentHEC >>= modifyTVar' running . IntMap.update stays
  where
    stays (own, t) = if threadOf t == threadOf s then Nothing else Just (own, t)

-- | The thread of this HEC is preempted, and counts as one that has stopped.
givesUp :: Running own -> Int -> STM ()
givesUp (Running running) hec = modifyTVar' running (IntMap.delete hec) >> preemptHEC hec
