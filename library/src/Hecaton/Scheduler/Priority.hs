-- | Priorities with aging: the thread with the greatest priority runs, and a thread that can run gains a priority each
-- time a number of others have been chosen. So each runs some time.
--
-- If the greatest priority is @p@, and aging takes @a@ choices, then a thread of priority @q@ is chosen after at most
-- @a * (p - q)@ choices, and those of the threads that were waiting before.
--
-- [Preemption] When a thread becomes able to run, and one of a lower priority runs, that one gives up its HEC at once:
--   of several the one with the lowest. Aging does not count for this.
-- [Inheritance] A thread that has a variable of "Hecaton.MVar" in @withMVar@ or @modifyMVar@ has the greatest priority
--   of those that wait for the variable ("Hecaton.Scheduler.Inheritance"). So has one that evaluates a thunk, of those
--   that wait for its value.
module Hecaton.Scheduler.Priority (new, newWith, policy, Thread) where

import Control.Concurrent.STM
import Control.Monad
import Hecaton.Scheduler
import Hecaton.Scheduler.Inheritance
import Hecaton.Scheduler.Ordered
import Hecaton.Scheduler.Running
import Hecaton.Substrate

-- | What is known of a thread.
data Thread = Thread {inheriting :: Borrower, queued :: TVar (Maybe Place)}

-- | Where a thread is among those that can run. Its age counts from a number of choices.
data Place = Place {since :: Integer, at :: (Integer, Integer), entry :: (Thread, SCont)}

-- | A scheduler's threads.
data Threads = Threads
  { -- | After how many choices a thread gains a priority.
    aging :: Integer,
    able :: Ordered Integer (Thread, SCont),
    running :: Running Thread,
    -- | How many times a thread has been chosen.
    chosen :: TVar Integer
  }

-- | Threads have priority 0 if nothing else is said. They gain one after 100 choices.
new :: IO (Scheduler Int)
new = newWith 100

-- | After how many choices a thread that can run gains a priority.
newWith :: Int -> IO (Scheduler Int)
newWith choices = policy choices >>= newScheduler

-- | What it does with its threads.
policy :: Int -> IO (Policy Int Thread)
policy choices
  | choices < 1 = ioError (userError "Hecaton.Scheduler.Priority: aging takes at least one choice")
  | otherwise = do
    threads <- Threads (toInteger choices) <$> newOrdered <*> newRunning <*> newTVarIO 0
    return
      WatchingPolicy
        { usual = 0,
          arrive = \priority -> do
            place <- newTVar Nothing
            inherits <- newBorrower priority (raise threads place)
            return (Thread inherits place),
          put = putIn threads,
          next = nextIn threads,
          gone = const (leaves (running threads)),
          insists = return False,
          borrower = Just . inheriting
        }

putIn :: Threads -> Thread -> SCont -> STM ()
putIn threads thread s = do
  ran <- stops (running threads) s
  -- An exception may have interrupted it before it was chosen.
  readTVar (queued thread) >>= mapM_ (remove (able threads) . at)
  now <- readTVar (chosen threads)
  priority <- rank (inheriting thread)
  insertSince now threads priority (thread, s)
  -- Otherwise its own HEC makes the next choice.
  unless ran (preemptFor threads priority)

-- | All threads age alike, so their order is that of the times at which they would have priority 0.
insertSince :: Integer -> Threads -> Int -> (Thread, SCont) -> STM ()
insertSince now threads priority (thread, s) = do
  place <- insertAt (able threads) (now - aging threads * toInteger priority) (thread, s)
  writeTVar (queued thread) (Just (Place now place (thread, s)))

nextIn :: Threads -> STM (Maybe SCont)
nextIn threads = do
  first <- takeLeast (able threads)
  runsHere (running threads) first
  forM_ first $ \(thread, _) -> writeTVar (queued thread) Nothing >> modifyTVar' (chosen threads) (+ 1)
  return (snd <$> first)

-- | The thread has got a greater priority.
raise :: Threads -> TVar (Maybe Place) -> Int -> STM ()
raise threads place priority = do
  found <- readTVar place
  forM_ found $ \now -> do
    remove (able threads) (at now)
    insertSince (since now) threads priority (entry now)
    preemptFor threads priority

-- | A thread of this priority can run.
preemptFor :: Threads -> Int -> STM ()
preemptFor threads priority = do
  now <- onHECs (running threads)
  ranked <- forM now (\(hec, (thread, _)) -> (\r -> (r, hec)) <$> rank (inheriting thread))
  unless (null ranked) $ do
    let (lowest, hec) = minimum ranked
    when (lowest < priority) (givesUp (running threads) hec)
