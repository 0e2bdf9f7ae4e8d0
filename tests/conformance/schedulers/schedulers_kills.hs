-- Kill storms: threads of each scheduler are killed wherever they are. All end, what they share stays whole, and the
-- scheduler keeps its order.
-- ghc: -O -threaded
-- needs: hecaton QuickCheck
import Control.Concurrent (forkIO, killThread, threadDelay)
import qualified Control.Concurrent as Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.List (sort)
import GHC.IO (unsafeUnmask)
import Hecaton.MVar
import Hecaton.Scheduler
import Hecaton.Substrate (getNumHECs)
import LibrarySchedulers
import OnSubstrate
import System.Mem (performGC, performMajorGC)
import System.Timeout (timeout)

main :: IO ()
main =
  substrateProgram
    [ expect "killed at yield" [] (forAll' (storm (\_ _ -> yield)))
    , expect "killed at takeMVar" [] (forAll' (storm (\_ empty -> takeMVar empty)))
    , expect "killed with a lock" [] (forAll' (storm (\lock _ -> yield >> counting lock)))
    , expect "killed while they migrate" [] (forAll' (storm (\_ _ -> withScheduler builtin yield)))
    , expect "killed with a time limit" [] (forAll' (storm (\lock empty -> limited lock empty)))
    , expect "killed before they run" [] (everyScheduler >>= failuresOf early)
    , expect "by threads of their own scheduler" [] (forAll' within)
    , expect "their ends are collected" [] (forAll' collections)
    ]
  where
    counting lock = modifyMVar_ lock (\n -> yield >> return (n + 1))
    limited lock empty = void (timeout 100 (takeMVar empty)) >> withMVar lock (const yield)

-- Forty threads repeat something and are killed. The lock is free in the end, and each thread has run its handler.
storm :: (MVar Int -> MVar () -> IO ()) -> Scheduler a -> IO Bool
storm repeated s = keepingOrder s $ do
  lock <- newMVar 0
  empty <- newEmptyMVar
  left <- newTVarIO (40 :: Int)
  ts <- replicateM 40 . mask_ . forkIn s $
    unsafeUnmask (forever (repeated lock empty)) `finally` atomically (modifyTVar' left (subtract 1))
  -- Under LIFO a thread that yields runs on, and those that wait for their first turn cannot be killed. So none of the
  -- killers waits for another.
  forM_ (zip [1 :: Int ..] ts) $ \(i, t) -> do
    when (i `mod` 3 == 0) Concurrent.yield
    when (i `mod` 7 == 0) (threadDelay 300)
    when (i `mod` 10 == 0) performGC
    forkIO (killThread t)
  ended left
  n <- takeMVar lock
  return (n >= 0)

-- Threads take turns afterwards as they did before, and all do. The end of a time slice may change the order once. A
-- random order is another one each time, and so is a round robin of a queue for each HEC where the HEC changes.
keepingOrder :: Scheduler a -> IO Bool -> IO Bool
keepingOrder s action = do
  before <- turns s
  ok <- action
  several <- (> 1) <$> getNumHECs
  let holds after = before == after || several || isOrderless before
  found <- untilIn 10 holds (turns s)
  return (ok && sort found == sort before && holds found)
  where
    isOrderless text = text `notElem` [concat (replicate 3 "abc"), "cccbbbaaa"]

-- The time slice of the killer may end before all are killed. That does not happen each time. (In a run queue a new
-- thread has its turn soon.)
early :: Scheduler a -> IO Bool
early s = keepingOrder s $ (== 0) <$> untilIn 20 (== 0) thoseThatRan
  where
    thoseThatRan = do
      ran <- newTVarIO (0 :: Int)
      done <- newTVarIO (1 :: Int)
      _ <- forkIn s $ do
        ts <- replicateM 100 (forkIn s (atomically (modifyTVar' ran (+ 1))))
        mapM_ killThread ts
        atomically (writeTVar done 0)
      ended done
      readTVarIO ran

-- The killer has the scheduler's HEC, and is the next to be killed.
within :: Scheduler a -> IO Bool
within s = keepingOrder s $ do
  empty <- newEmptyMVar
  left <- newTVarIO (20 :: Int)
  done <- newTVarIO (1 :: Int)
  _ <- forkIn s $ do
    waiting <- replicateM 10 (forkIn s (takeMVar empty `finally` atomically (modifyTVar' left (subtract 1))))
    yielding <- replicateM 10 $
      forkIn s ((replicateM_ 20 yield >> takeMVar empty) `finally` atomically (modifyTVar' left (subtract 1)))
    replicateM_ 10 yield
    withScheduler builtin (threadDelay 2000)
    forM_ (concat [[w, y] | (w, y) <- zip waiting yielding]) killThread
    atomically (writeTVar done 0)
  ended done
  ended left
  tryTakeMVar (empty :: MVar ()) >>= return . (== Nothing)

-- Threads that have ended are passive until they are collected. Nothing of this is seen.
collections :: Scheduler a -> IO Bool
collections s = keepingOrder s $ do
  forM_ [1 .. 4 :: Int] $ \_ -> do
    threads s (replicate 20 yield)
    _ <- forkIO (threads s (replicate 5 yield))
    performMajorGC
  threads s (replicate 20 yield)
  return True
