{-# LANGUAGE CPP #-}

-- | The threads and MVars of the benchmarks, chosen when they are compiled: those of @base@; with @RUN_QUEUE@ the
-- threads of a run queue of the runtime; with @ACTIVATIONS@ those of a round robin that is written in Haskell; with
-- @USER_MVARS@ variables at which threads wait by its activations.
module Threads (Fork, withThreads, forkAll, module Variables) where

import qualified Control.Concurrent as Base
import Control.Monad
#ifdef USER_MVARS
import Hecaton.MVar as Variables
#else
import Control.Concurrent.MVar as Variables
#endif
#ifdef ACTIVATIONS
import Hecaton.Scheduler
import qualified Hecaton.Scheduler.RoundRobin as RoundRobin
#endif
#ifdef RUN_QUEUE
import Hecaton.RunQueue
#endif

-- | Makes a thread.
type Fork = IO () -> IO ()

newFork :: IO Fork
#ifdef ACTIVATIONS
newFork = (\scheduler -> void . forkIn scheduler) <$> RoundRobin.new
#elif defined(RUN_QUEUE)
newFork = (\queue -> void . forkInQueue queue) <$> newRunQueue Fifo
#else
newFork = return (void . Base.forkIO)
#endif

-- | Runs an action in a thread, and gives it a way to make others. The caller, which is @main@, waits for its result at
-- a variable of @base@, so that it runs only once in the end.
withThreads :: (Fork -> IO a) -> IO a
withThreads action = do
  fork <- newFork
  result <- Base.newEmptyMVar
  fork (action fork >>= Base.putMVar result)
  Base.takeMVar result

-- | Runs each action in a thread, and returns their results, evaluated, in this order.
forkAll :: Fork -> [IO a] -> IO [a]
forkAll fork actions = do
  results <- forM actions $ \action -> do
    result <- newEmptyMVar
    fork (action >>= \x -> x `seq` putMVar result x)
    return result
  mapM takeMVar results
