-- | First in, first out: a thread runs when all have run that became able to run before it.
module Hecaton.Scheduler.Fifo (new, policy) where

import Control.Concurrent.STM
import Data.Sequence (ViewL (..), viewl, (|>))
import qualified Data.Sequence as Seq
import Hecaton.Scheduler

-- | A queue without threads.
new :: IO (Scheduler ())
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy () ())
policy = do
  queue <- newTVarIO Seq.empty
  return
    Policy
      { usual = (),
        arrive = return,
        put = \() s -> modifyTVar' queue (|> s),
        next = do
          threads <- readTVar queue
          case viewl threads of
            EmptyL -> return Nothing
            s :< others -> writeTVar queue others >> return (Just s)
      }
