{-# LANGUAGE RankNTypes #-}

-- | Runs callbacks, and lets none of them stop the manager.
--
-- Protocol. A step has a batch of jobs. A thread of the manager's own, the /runner/, runs them in their order while the
-- step waits. Another thread, the /watch/, looks every 'grace' whether the runner is still at the job that it was at
-- the last time.
--
--  1. The runner writes the number of its job into its word, runs the job, and exchanges the number for 0.
--  2. If the watch finds the same number twice, it exchanges it for 'detached'. One of the two exchanges succeeds.
--  3. If it is the watch's, the job is slow. The watch calls 'jobHold', which makes sure that nothing that has to come
--     after this job begins before it ends. It hands the rest of the batch to a new runner.
--  4. The old runner finishes its job alone, calls what 'jobHold' returned, and ends.
--
-- So a batch is over when all its jobs have ended or have become slow. While there are no jobs, the watch sleeps for
-- good, and an idle program does not wake up.
module Hecaton.Event.Runner
  ( Runner,
    Job (..),
    newRunner,
    run,
    settle,
    stop,
    slowJobs,
    guarded,
  )
where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Conc (childHandler)
import Hecaton.Event.Atomic

-- | Something to run.
data Job = Job
  { -- | The job itself. It throws nothing but asynchronous exceptions ('guarded').
    jobRun :: IO (),
    -- | What is done when the job turns out to be slow. It returns what is to be done when the job has ended.
    jobHold :: IO (IO ())
  }

-- | A thread for jobs.
data Worker = Worker
  { -- | The number of its job, 0, 'detached' or 'ended'.
    current :: !Words,
    -- | That job and the rest of the batch.
    left :: !(IORef [Job]),
    -- | Filled when the batch is over.
    over :: !(IORef (MVar ())),
    orders :: !(MVar Order),
    -- | What a detached worker does at the end of its job.
    release :: !(MVar (IO ()))
  }

data Order = Batch [Job] (MVar ()) | Quit

detached, ended :: Int
detached = -1
ended = -2

-- | What runs the callbacks of one manager.
data Runner = Runner
  { worker :: !(IORef Worker),
    -- | When the latest batch is over.
    latest :: !(IORef (MVar ())),
    -- | The state of the watch; how many jobs have begun, batches have begun, jobs were slow.
    counts :: !Words,
    -- | Wakes the watch.
    bell :: !(MVar ())
  }

watching, jobsBegun, batchesBegun, jobsSlow :: Int
watching = 0
jobsBegun = 1
batchesBegun = 2
jobsSlow = 3

-- | States of the watch: there is no thread, it sleeps, it looks.
absent, parked, looking :: Int
absent = 0
parked = 1
looking = 2

-- | How long a job may take, in microseconds, before the loop goes on without it. Between one and two such times pass.
-- Most callbacks take some microseconds, and a client notices a hundredth of a second at the earliest.
grace :: Int
grace = 5000

-- | After this number of looks without a job the watch sleeps.
maxIdleLooks :: Int
maxIdleLooks = 20

newRunner :: IO Runner
newRunner = do
  over' <- newMVar ()
  first <- newWorker
  set (current first) 0 ended
  Runner <$> newIORef first <*> newIORef over' <*> newWords 4 <*> newEmptyMVar

-- | A worker without a thread.
newWorker :: IO Worker
newWorker = do
  none <- newMVar ()
  Worker <$> newWords 1 <*> newIORef [] <*> newIORef none <*> newEmptyMVar <*> newEmptyMVar

-- | Runs a batch, and returns when it is over. If an exception interrupts this, the batch goes on. One thread at a time
-- calls this.
run :: Runner -> [Job] -> IO ()
run _ [] = pure ()
run runner jobs = do
  over' <- newEmptyMVar
  writeIORef (latest runner) over'
  _ <- add (counts runner) batchesBegun 1
  busy <- readIORef (worker runner)
  state <- get (current busy) 0
  -- A worker that was unreachable for a while has ended.
  able <- if state == ended then startWorker runner else pure busy
  putMVar (orders able) (Batch jobs over')
  startWatch runner
  readMVar over'

-- | Waits until a batch is over whose 'run' was interrupted.
settle :: Runner -> IO ()
settle runner = readIORef (latest runner) >>= readMVar

-- | Ends the threads, but those that run slow jobs.
stop :: Runner -> IO ()
stop runner = do
  idle <- readIORef (worker runner)
  void (tryPutMVar (orders idle) Quit)
  void (tryPutMVar (bell runner) ())

-- | How many jobs were slow.
slowJobs :: Runner -> IO Int
slowJobs runner = get (counts runner) jobsSlow

-- | Runs an action. What it throws is reported as if it had ended a thread, and goes no further.
guarded :: IO () -> IO ()
guarded action = action `catch` childHandler

startWorker :: Runner -> IO Worker
startWorker runner = do
  new <- newWorker
  writeIORef (worker runner) new
  _ <- mask_ (forkIOWithUnmask (work runner new))
  pure new

work :: Runner -> Worker -> (forall a. IO a -> IO a) -> IO ()
work runner me unmask = await
  where
    await = do
      order <- try (takeMVar (orders me))
      case order of
        Right (Batch jobs over') -> writeIORef (over me) over' >> begin jobs
        Right Quit -> set (current me) 0 ended
        Left exception
          -- No thread can give an order any more.
          | Just BlockedIndefinitelyOnMVar <- fromException exception -> set (current me) 0 ended
          -- A callback's thread was sent an exception that arrives after its end.
          | otherwise -> await

    begin [] = do
      batch <- readIORef (over me)
      writeIORef (left me) []
      putMVar batch ()
      await
    begin jobs@(job : rest) = do
      writeIORef (left me) jobs
      number <- add (counts runner) jobsBegun 1
      set (current me) 0 number
      guarded (unmask (jobRun job))
      mine <- swapIf (current me) 0 number 0
      if mine then begin rest else uninterruptibleMask_ (join (takeMVar (release me)))

-- | Sees to it that the watch looks.
startWatch :: Runner -> IO ()
startWatch runner = do
  state <- get (counts runner) watching
  case () of
    _
      | state == looking -> pure ()
      | state == parked -> do
        mine <- swapIf (counts runner) watching parked looking
        when mine $ void (tryPutMVar (bell runner) ())
      | otherwise -> do
        set (counts runner) watching looking
        void . mask_ . forkIO $ watch runner `finally` set (counts runner) watching absent

watch :: Runner -> IO ()
watch runner = look 0
  where
    look :: Int -> IO ()
    look idle = do
      batches <- get (counts runner) batchesBegun
      busy <- readIORef (worker runner)
      number <- get (current busy) 0
      threadDelay grace
      batches' <- get (counts runner) batchesBegun
      busy' <- readIORef (worker runner)
      number' <- get (current busy') 0
      case () of
        _
          | number' > 0 && number' == number -> detach busy number >> look 0
          | number' > 0 || batches' /= batches -> look 0
          | idle < maxIdleLooks -> look (idle + 1)
          | otherwise -> park batches

    park batches = do
      set (counts runner) watching parked
      batches' <- get (counts runner) batchesBegun
      again <- if batches' == batches then pure False else swapIf (counts runner) watching parked looking
      if again
        then look 0
        else do
          order <- try (takeMVar (bell runner))
          busy <- readIORef (worker runner)
          state <- get (current busy) 0
          case order of
            Left BlockedIndefinitelyOnMVar -> pure ()
            Right () | state == ended -> pure ()
            Right () -> look 0

    detach slow number = do
      mine <- swapIf (current slow) 0 number detached
      when mine $ do
        jobs <- readIORef (left slow)
        batch <- readIORef (over slow)
        _ <- add (counts runner) jobsSlow 1
        after <- case jobs of
          job : _ -> jobHold job `catch` \exception -> childHandler exception >> pure (pure ())
          [] -> pure (pure ())
        putMVar (release slow) after
        next <- startWorker runner
        putMVar (orders next) (Batch (drop 1 jobs) batch)
