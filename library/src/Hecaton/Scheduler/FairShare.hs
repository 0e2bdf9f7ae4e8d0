-- | Fair shares of the time: threads run in proportion to their shares. Time is that of 'runTime', so a thread that
-- yields late runs less often.
--
-- A thread has a /pass/: the time for which it has run, divided by its share. The thread with the least pass is next. A
-- thread that has waited for something begins again at the pass of those that run: it does not catch up.
module Hecaton.Scheduler.FairShare (new, policy, Account) where

import Control.Concurrent.STM
import Control.Monad
import Data.Foldable (toList)
import Data.Word (Word64)
import Hecaton.Scheduler
import Hecaton.Scheduler.Ordered
import Hecaton.Scheduler.Running
import Hecaton.Substrate

-- | What is known of a thread.
data Account = Account
  { share :: Integer,
    pass :: TVar Integer,
    -- | The run time up to which the pass is counted.
    counted :: TVar (Maybe Word64)
  }

-- | A scheduler without threads. Threads have a share of 1 if nothing else is said; the least share is 1.
new :: IO (Scheduler Int)
new = policy >>= newScheduler

-- | What it does with its threads.
policy :: IO (Policy Int Account)
policy = do
  threads <- newOrdered
  running <- newRunning
  -- The least pass that a thread which can run may have.
  lowest <- newTVarIO 0
  return
    Policy
      { usual = 1,
        arrive = \n -> Account (toInteger (max 1 n)) <$> newTVar 0 <*> newTVar Nothing,
        put = \account s -> do
          charge (account, s)
          now <- map snd <$> onHECs running
          mapM_ charge now
          passes <- (++) <$> mapM (readTVar . pass . fst) now <*> (toList <$> least threads)
          unless (null passes) (modifyTVar' lowest (max (minimum passes)))
          begun <- readTVar lowest
          modifyTVar' (pass account) (max begun)
          key <- readTVar (pass account)
          insert threads key (account, s),
        next = do
          first <- takeLeast threads
          runsHere running first
          return (snd <$> first)
      }

-- | Counts what the thread has run since the last time.
charge :: (Account, SCont) -> STM ()
charge (account, s) = do
  now <- runTime s
  before <- readTVar (counted account)
  writeTVar (counted account) (Just now)
  -- A pass is in 1/1000 of a nanosecond, so that great shares are counted, too.
  forM_ before $ \t -> modifyTVar' (pass account) (+ (toInteger (now - t) * 1000) `div` share account)
