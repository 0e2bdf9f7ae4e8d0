{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE RankNTypes #-}

-- The schedulers of the package, and programs that run on any of them.
module LibrarySchedulers
  ( Any (..), everyScheduler, onAllHECs, onOne, forAll', failuresOf, untilIn, said, threads, turns, startedBy, ended
  ) where

import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Hecaton.RunQueue (newRunQueue)
import qualified Hecaton.RunQueue as RunQueue
import Hecaton.Scheduler
import qualified Hecaton.Scheduler.Deadline as Deadline
import qualified Hecaton.Scheduler.FairShare as FairShare
import qualified Hecaton.Scheduler.Fifo as Fifo
import qualified Hecaton.Scheduler.Gang as Gang
import qualified Hecaton.Scheduler.Hierarchical as Hierarchical
import qualified Hecaton.Scheduler.Lifo as Lifo
import qualified Hecaton.Scheduler.Priority as Priority
import qualified Hecaton.Scheduler.Random as Random
import qualified Hecaton.Scheduler.RoundRobin as RoundRobin
import qualified Hecaton.Scheduler.WorkStealing as WorkStealing

data Any = forall a. Any String (Scheduler a)

-- Each on one HEC at a time: their orders can be told only so.
everyScheduler :: IO [Any]
everyScheduler =
  sequence
    [ Any "round robin" <$> onOne RoundRobin.policy
    , Any "work stealing" <$> onOne WorkStealing.policy
    , Any "FIFO" <$> onOne Fifo.policy
    , Any "LIFO" <$> onOne Lifo.policy
    , Any "priority" <$> onOne (Priority.policy 100)
    , Any "fair share" <$> onOne FairShare.policy
    , Any "deadline" <$> onOne Deadline.policy
    , Any "gang" <$> Gang.newOn 1
    , Any "random" <$> onOne (Random.policy 7)
    , Any "hierarchical" <$> (Hierarchical.newOn 1 >>= \p -> Hierarchical.child p 2 RoundRobin.policy)
    ]

-- Without a limit on the HECs.
onAllHECs :: IO [Any]
onAllHECs =
  sequence
    [ Any "round robin" <$> RoundRobin.new
    , Any "work stealing" <$> WorkStealing.new
    , Any "FIFO" <$> Fifo.new
    , Any "LIFO" <$> Lifo.new
    , Any "priority" <$> Priority.new
    , Any "fair share" <$> FairShare.new
    , Any "deadline" <$> Deadline.new
    , Any "gang" <$> Gang.new
    , Any "random" <$> Random.new 7
    , Any "hierarchical" <$> (Hierarchical.new >>= \p -> Hierarchical.child p 2 RoundRobin.policy)
    , runQueue
    ]

-- One that names a queue of the runtime, which has a part on each HEC.
runQueue :: IO Any
runQueue = Any "run queue" . inRunQueue <$> newRunQueue RunQueue.Fifo

-- A scheduler whose threads run on one HEC at a time.
onOne :: IO (Policy a own) -> IO (Scheduler a)
onOne policy = policy >>= newSchedulerOn 1

-- The names of the schedulers for which the action fails.
forAll' :: (forall a. Scheduler a -> IO Bool) -> IO [String]
forAll' action = (:) <$> runQueue <*> everyScheduler >>= failuresOf action

failuresOf :: (forall a. Scheduler a -> IO Bool) -> [Any] -> IO [String]
failuresOf action schedulers =
  concat <$> forM schedulers (\(Any name s) -> (\ok -> [name | not ok]) <$> action s)

-- The first result for which something holds, or the last one of this number of attempts.
untilIn :: Int -> (r -> Bool) -> IO r -> IO r
untilIn attempts holds action = do
  r <- action
  if holds r || attempts == 1 then return r else untilIn (attempts - 1) holds action

-- What threads say, in order. They are made by a thread of the scheduler that comes before them, so none runs before
-- all are there.
said :: Scheduler a -> a -> [(a, (String -> IO ()) -> IO ())] -> IO [String]
said s first bodies = do
  texts <- newTVarIO []
  let say text = atomically (modifyTVar' texts (text :))
  startedBy s first [(a, body say) | (a, body) <- bodies]
  reverse <$> readTVarIO texts

-- Runs these threads to their ends.
startedBy :: Scheduler a -> a -> [(a, IO ())] -> IO ()
startedBy s first bodies = do
  left <- newTVarIO (length bodies)
  _ <- forkInAs s first $ forM_ bodies $ \(a, body) ->
    forkInAs s a (body `finally` atomically (modifyTVar' left (subtract 1)))
  ended left

-- Waits until a number is 0.
ended :: TVar Int -> IO ()
ended left = atomically (readTVar left >>= check . (== 0))

-- Runs threads which are forked as is usual.
threads :: Scheduler a -> [IO ()] -> IO ()
threads s bodies = do
  left <- newTVarIO (length bodies)
  _ <- forkIn s $ forM_ bodies $ \body -> forkIn s (body `finally` atomically (modifyTVar' left (subtract 1)))
  ended left

-- Three threads that yield.
turns :: Scheduler a -> IO String
turns s = do
  texts <- newTVarIO ""
  threads s [replicateM_ 3 (atomically (modifyTVar' texts (name :)) >> yield) | name <- "abc"]
  reverse <$> readTVarIO texts
