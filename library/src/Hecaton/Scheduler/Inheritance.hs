-- | Inheritance of priorities: a thread that holds a lock runs as if it had the greatest /rank/ of those that wait for
-- the lock, until it lets go. So a thread of a rank in between does not keep the waiting one from running. The same
-- holds for a thread that evaluates a thunk, as long as others wait for its value.
--
-- A lock is what threads take to give it back themselves: a variable of "Hecaton.MVar" in its @withMVar@ and
-- @modifyMVar@. A scheduler gives its threads a 'Borrower' each, which its policy has in 'Hecaton.Scheduler.borrower',
-- and is told when the rank of a thread grows. "Hecaton.Scheduler.Priority" does so.
--
-- [Chains] A holder that waits for another lock lends what it has borrowed to the holder of that one. Threads that wait
--   for each other in a circle lend until all have the same rank.
-- [Several locks] Each 'Hold' has a rank of its own, so that a thread which lets go of one lock keeps what was lent for
--   the others.
-- [Interruption] What a thread has lent that stops waiting by an exception stays with the holder until that lets go.
--   From then on the thread lends nothing: its SCont is stale.
module Hecaton.Scheduler.Inheritance
  ( -- * Threads
    Borrower,
    newBorrower,
    rank,

    -- * Locks
    Hold,
    hold,
    letGo,
    waitFor,

    -- * Thunks
    waitForThunk,
    resumes,
  )
where

import Control.Concurrent.STM
import Control.Monad
import Hecaton.Substrate

-- | A thread, as long as it belongs to one scheduler.
data Borrower = Borrower
  { own :: Int,
    holds :: TVar [Hold],
    -- | What it has begun to wait for, and which hold there is now.
    waits :: TVar (Maybe (SCont, STM (Maybe Hold))),
    -- | What another thread has because this one waits for a thunk.
    ofThunk :: TVar (Maybe Hold),
    -- | Tells the scheduler of a greater rank.
    grow :: Int -> STM ()
  }

-- | One thread has one lock.
data Hold = Hold {holder :: Borrower, lent :: TVar Int}

instance Eq Hold where
  h == i = lent h == lent i

-- | A thread with a rank of its own. The action is run when the rank becomes greater, with the new one.
newBorrower :: Int -> (Int -> STM ()) -> STM Borrower
newBorrower r grows = (\hs ws t -> Borrower r hs ws t grows) <$> newTVar [] <*> newTVar Nothing <*> newTVar Nothing

-- | The rank of its own, or the greatest that has been lent to it.
rank :: Borrower -> STM Int
rank b = readTVar (holds b) >>= foldM (\r h -> max r <$> readTVar (lent h)) (own b)

-- | The thread gets a lock, and waits no more.
hold :: Borrower -> STM Hold
hold b = do
  writeTVar (waits b) Nothing
  newHold b

newHold :: Borrower -> STM Hold
newHold b = do
  h <- Hold b <$> newTVar minBound
  modifyTVar' (holds b) (h :)
  return h

-- | It lets go. Any thread may say so.
letGo :: Hold -> STM ()
letGo h = modifyTVar' (holds (holder h)) (filter (/= h))

-- | The thread of this SCont begins to wait for a lock, or another thread holds now what it waits for. The action finds
-- who holds it.
waitFor :: STM (Maybe Hold) -> SCont -> Borrower -> STM ()
waitFor find s b = do
  writeTVar (waits b) (Just (s, find))
  r <- rank b
  find >>= mapM_ (lend r)

lend :: Int -> Hold -> STM ()
lend r h = do
  before <- rank (holder h)
  already <- readTVar (lent h)
  when (r > already) (writeTVar (lent h) r)
  when (r > before) $ do
    grow (holder h) r
    waiting <- readTVar (waits (holder h))
    forM_ waiting $ \(s, find) -> do
      stale <- isStale s
      unless stale (find >>= mapM_ (lend r))

-- | The thread of this SCont waits for a thunk that the other one evaluates, until it 'resumes'.
waitForThunk :: Borrower -> SCont -> Borrower -> STM ()
waitForThunk evaluates s b = do
  resumes b
  h <- newHold evaluates
  writeTVar (ofThunk b) (Just h)
  waitFor (return (Just h)) s b

-- | The thread can run: it does not wait for a thunk any more.
resumes :: Borrower -> STM ()
resumes b = readTVar (ofThunk b) >>= mapM_ end
  where
    end h = letGo h >> writeTVar (ofThunk b) Nothing >> writeTVar (waits b) Nothing
