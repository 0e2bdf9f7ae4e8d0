-- | Round robin with work sharing [SHMP14, §4.1]: threads run in turn. There is a queue for each HEC, new threads are
-- divided among the queues, and a HEC whose queue is empty takes from the others. Each sixteenth thread that a HEC
-- takes is from another queue, if that has any, because the HEC of that queue may have no time for it.
module Hecaton.Scheduler.RoundRobin (new, policy) where

import Control.Concurrent.STM
import Data.Array
import Data.Sequence (Seq, ViewL (..), viewl, (|>))
import qualified Data.Sequence as Seq
import Hecaton.Scheduler
import Hecaton.Substrate

-- | A round robin without threads.
new :: IO (Scheduler ())
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy () Int)
policy = do
  hecs <- getNumHECs
  queues <- mapM (const (newTVarIO Seq.empty)) (listArray (0, hecs - 1) [0 .. hecs - 1])
  taken <- mapM (const (newTVarIO 0)) queues
  placed <- newTVarIO 0
  return
    Policy
      { usual = (),
        arrive = \() -> stateTVar placed (\n -> (n, (n + 1) `mod` hecs)),
        put = \home s -> modifyTVar' (queues ! home) (|> s),
        next = do
          hec <- (`mod` hecs) <$> getCurrentHEC
          n <- stateTVar (taken ! hec) (\n -> (n, n + 1))
          let (others, turn) = n `divMod` 16
              start = if turn == 15 then others else hec
          firstOf [queues ! ((start + i) `mod` hecs) | i <- [0 .. hecs - 1]]
      }

-- | Takes the first thread of the first queue that has any.
firstOf :: [TVar (Seq SCont)] -> STM (Maybe SCont)
firstOf [] = return Nothing
firstOf (queue : others) = do
  threads <- readTVar queue
  case viewl threads of
    EmptyL -> firstOf others
    s :< rest -> writeTVar queue rest >> return (Just s)
