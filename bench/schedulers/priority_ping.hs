-- An interactive thread that waits for a millisecond again and again, beside two that compute and allocate, and many in
-- the background that compute for moments. Prints how much too late it was in milliseconds: the median, the 99th
-- percentile and the most. Arguments: how many threads in the background, and for how many seconds.
-- ghc: -O
-- needs: hecaton
{-# LANGUAGE CPP #-}

import qualified Control.Concurrent as Base
import Control.Exception
import Control.Monad
import qualified Data.IntMap as M
import Data.List
import GHC.Clock
import System.Environment
#ifdef ACTIVATIONS
import Hecaton.Scheduler
import qualified Hecaton.Scheduler.Priority as Priority
#endif
#ifdef RUN_QUEUE
import Hecaton.RunQueue
#endif

-- | Makes a thread with a priority, if the scheduler knows priorities.
newFork :: IO (Int -> IO () -> IO ())
#ifdef ACTIVATIONS
newFork = (\scheduler priority -> void . forkInAs scheduler priority) <$> Priority.new
#elif defined(RUN_QUEUE)
newFork = (\queue key -> void . forkInQueueAs queue (fromIntegral key)) <$> newRunQueue Priority
#else
newFork = return (const (void . Base.forkIO))
#endif
#ifndef ACTIVATIONS

yield :: IO ()
yield = Base.yield
#endif

main :: IO ()
main = do
  [background, seconds] <- map read <$> getArgs
  fork <- newFork
  forM_ [1 .. background] $ \n -> fork 0 (compute 5 yield n)
  forM_ [1, 2] $ \n -> fork 10 (compute 2000 (return ()) n)
  answered <- Base.newEmptyMVar
  fork 100 (answers (fromIntegral seconds) >>= Base.putMVar answered)
  late <- sort <$> Base.takeMVar answered
  let part percent = late !! ((length late - 1) * percent `div` 100)
  putStrLn (unwords (map (show . part) [50, 99, 100]))

-- | Computes with this many numbers again and again.
compute :: Int -> IO () -> Int -> IO ()
compute size between n = do
  _ <- evaluate (M.size (M.fromList [(i * 7919 `mod` 10007, i) | i <- [n .. n + size]]))
  between
  compute size between (n + 1)

-- | How late the answers of some seconds were.
answers :: Double -> IO [Double]
answers seconds = getMonotonicTime >>= \start -> go (start + seconds)
  where
    go end = do
      asked <- getMonotonicTime
      if asked > end then return [] else do
        Base.threadDelay 1000
        now <- getMonotonicTime
        ((1000 * (now - asked) - 1) :) <$> go end
