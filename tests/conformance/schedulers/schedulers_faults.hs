-- A scheduler that fails ends nothing but itself: its threads go on under the built-in one, no other is harmed, and
-- there is a line for each on standard error, which goes to a file here. The argument is a number of random faults.
-- ghc: -O -threaded -fno-omit-yields
-- args: 1000
-- needs: hecaton
module Main (main) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar, threadDelay)
import qualified Control.Concurrent as Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Bits ((.|.))
import Data.IORef
import Data.List (isInfixOf)
import Hecaton.RunQueue (forkBuiltIn)
import qualified Hecaton.Scheduler as Scheduler
import qualified Hecaton.Scheduler.RoundRobin as Library
import Hecaton.Substrate
import Hecaton.Substrate.Group
import OnSubstrate hiding (forkBuiltIn)
import System.Environment (getArgs)
import System.IO
import System.Mem (performMajorGC)
import System.Posix.IO

data Fault
  = DequeueRaises
  | EnqueueRaises
  | DequeueComputes
  | DequeueAllocates
  | EnqueueComputes
  | ChoosesRunning
  | ChoosesBlocked
  | ChoosesStale
  | NeedsItself
  | Undefined
  deriving (Eq, Show, Enum, Bounded)

main :: IO ()
main = do
  count <- maybe 1000 read . firstOf <$> getArgs
  substrateProgram $
    [expect ("a fault: " ++ show fault) (all', 1) (linesSaid (faulty fault)) | fault <- [minBound ..]]
      ++ [ expect "an exception that cannot be shown" (all', 1) (linesSaid (failing (throw Unshowable)))
         , expect "the text is one line" True textOf
         , expect "a fault in the middle of a switch" (True, 1) (linesSaid inSwitch)
         , expect "what belongs to an ejected group" True afterwards
         , expect "a thread whose scheduler is unreachable" True unreachable
         , expect "random faults" count (randomFaults count)
         , expect "an enqueue that fails spoils no other" (True, 1) (linesSaid refused)
         , expect "a fault of a scheduler of the package" (all', 1) (linesSaid package)
         ]
  where
    firstOf args = case args of a : _ -> Just a; [] -> Nothing
    all' = sum [1 .. 20 :: Int]

data Unshowable = Unshowable

instance Show Unshowable where
  show _ = throw Unshowable

instance Exception Unshowable

-- The result, and how many lines were written to standard error.
linesSaid :: IO a -> IO (a, Int)
linesSaid action = do
  (a, said) <- saying action
  return (a, length (filter ("faulty scheduler" `isInfixOf`) (lines said)))

saying :: IO a -> IO (a, String)
saying action = do
  (from, to) <- createPipe
  saved <- dup stdError
  _ <- dupTo to stdError
  closeFd to
  a <- action `finally` (dupTo saved stdError >> closeFd saved)
  said <- fdToHandle from >>= hGetContents
  _ <- evaluate (length said)
  return (a, said)

-- The activations are a FIFO until the fault is set.
newFaulty :: TVar Bool -> (SCont -> STM SCont) -> (SCont -> STM ()) -> IO Group
newFaulty fails dequeue enqueue = do
  group <- newGroup "faulty" Nothing usualPromise
  setGroup group
  queue <- newTVarIO []
  setDequeueAct $ \s -> do
    failsNow <- readTVar fails
    if failsNow then dequeue s else readTVar queue >>= \q -> case q of
      [] -> retry
      first : others -> writeTVar queue others >> return first
  setEnqueueAct $ \s -> do
    failsNow <- readTVar fails
    when failsNow (enqueue s)
    modifyTVar' queue (++ [s])
  return group

fork :: IO () -> IO ()
fork action = newSCont (action >> switch dequeueAct) >>= atomically . enqueueAct

-- Twenty threads that wait in all ways: when the scheduler fails, some are ready, some wait in the runtime, some for
-- each other. All end.
threads :: Group -> IO () -> IO Int
threads group failNow = do
  done <- newEmptyMVar
  hole <- newTVarIO []
  forM_ [1 .. 20 :: Int] $ \i -> fork $ do
    case i `mod` 5 of
      0 -> threadDelay 2000
      1 -> switch (\s -> enqueueAct s >> dequeueAct s)
      2 -> switch (\s -> modifyTVar' hole (s :) >> dequeueAct s)
      3 -> void (forkIO (return ())) >> Concurrent.yield
      _ -> return ()
    putMVar done i
  -- Those in the hole are given to the built-in scheduler when theirs is ejected.
  giver <- forkBuiltIn $ do
    untilEjected
    forever (threadDelay 500 >> atomically (readTVar hole >>= mapM_ enqueueAct >> writeTVar hole []))
  threadDelay 1000
  failNow
  (sum <$> replicateM 20 (takeMVar done)) <* Concurrent.killThread giver
  where
    untilEjected = isEjected group >>= \gone -> unless gone (threadDelay 500 >> untilEjected)

faulty :: Fault -> IO Int
faulty fault = do
  fails <- newTVarIO False
  running <- newEmptyMVar
  runs <- forkBuiltIn (atomically ownSCont >>= putMVar running >> forever Concurrent.yield)
  other <- takeMVar running
  used <- stale
  let dequeue s = case fault of
        DequeueRaises -> throwSTM (userError "dequeue")
        DequeueComputes -> spin 0 `seq` return s
        DequeueAllocates -> allocate `seq` return s
        ChoosesRunning -> return other
        ChoosesBlocked -> return s
        ChoosesStale -> return used
        NeedsItself -> let n = if n > 1 then n else length (show n) in n `seq` return s
        Undefined -> return undefined
        _ -> retry
      enqueue _ = case fault of
        EnqueueRaises -> throwSTM (userError "enqueue")
        EnqueueComputes -> spin 1 `seq` return ()
        _ -> return ()
  group <- newFaulty fails dequeue enqueue
  threads group (atomically (writeTVar fails True)) <* Concurrent.killThread runs

-- An SCont that has been used.
stale :: IO SCont
stale = do
  used <- newEmptyMVar
  _ <- forkBuiltIn $ do
    own <- atomically ownSCont
    switch (\s -> enqueueAct s >> dequeueAct s)
    putMVar used own
  takeMVar used

spin :: Int -> Int
spin n = if n == minBound then n else spin (n .|. 1)
{-# NOINLINE spin #-}

allocate :: Integer
allocate = last (iterate (\n -> if n > 10 ^ (30 :: Int) then 0 else n + 1) (10 ^ (29 :: Int)))
{-# NOINLINE allocate #-}

failing :: STM SCont -> IO Int
failing dequeue = do
  fails <- newTVarIO False
  group <- newFaulty fails (const dequeue) (const (return ()))
  threads group (atomically (writeTVar fails True))

textOf :: IO Bool
textOf = do
  (_, said) <- saying (failing (throwSTM (userError "two\nlines")))
  return ("its dequeue activation raised: user error (two lines)\n" `isInfixOf` said)

-- The activation refuses threads with this aux field. Another scheduler has threads in the same batch.
refused :: IO Bool
refused = do
  s <- Library.new
  done <- newEmptyMVar
  m <- newEmptyMVar
  forM_ [1 .. 10 :: Int] $ \_ -> Scheduler.forkIn s (takeMVar m >> putMVar done ())
  refusing <- newGroup "refusing" Nothing usualPromise
  let activations = GroupActivations refusing (const retry) (const (throwSTM (userError "refused")))
  waiting <- newTVarIO (0 :: Int)
  members <- replicateM 3 . forkBuiltIn $ do
    setNextActivations (Just (Just activations))
    switch (\s -> modifyTVar' waiting (+ 1) >> builtInDequeueAct s) `catch` \e -> const (return ()) (e :: AsyncException)
    putMVar done ()
  atomically (readTVar waiting >>= check . (== 3))
  forM_ members Concurrent.killThread
  replicateM_ 10 (putMVar m ())
  replicateM_ 13 (takeMVar done)
  isEjected refusing

-- A policy fails. A round robin beside it shares the HECs and the dequeue activation.
package :: IO Int
package = do
  fails <- newTVarIO False
  queue <- newTVarIO []
  bad <-
    Scheduler.newScheduler
      Scheduler.Policy
        { Scheduler.usual = ()
        , Scheduler.arrive = return
        , Scheduler.put = \() s -> modifyTVar' queue (++ [s])
        , Scheduler.next = do
            failsNow <- readTVar fails
            when failsNow (throwSTM (userError "next"))
            readTVar queue >>= \q -> case q of
              [] -> return Nothing
              s : others -> writeTVar queue others >> return (Just s)
        }
  good <- Library.new
  done <- newEmptyMVar
  forM_ [1 .. 5] $ \i -> Scheduler.forkIn bad (steps >> putMVar done i)
  forM_ [6 .. 10] $ \i -> Scheduler.forkIn good (steps >> putMVar done i)
  atomically (writeTVar fails True)
  _ <- Scheduler.forkIn bad (return ())
  forM_ [11 .. 15] $ \i -> Scheduler.forkIn bad (steps >> putMVar done i)
  forM_ [16 .. 18] $ \i -> Scheduler.forkIn good (steps >> putMVar done i)
  _ <- forkIO (Scheduler.withScheduler bad (Scheduler.withScheduler good steps) >> putMVar done 19)
  _ <- forkIO (Scheduler.withScheduler good (Scheduler.withScheduler bad steps) >> putMVar done 20)
  sum <$> replicateM 20 (takeMVar done)
  where
    steps = replicateM_ 5 Scheduler.yield >> threadDelay 1000 >> replicateM_ 5 Scheduler.yield

-- A thread runs the activation itself.
inSwitch :: IO Bool
inSwitch = do
  fails <- newTVarIO True
  _ <- newFaulty fails (\_ -> spin 2 `seq` retry) (const (return ()))
  switch (\s -> enqueueAct s >> dequeueAct s)
  return True

-- Activations of an ejected group are those of the built-in scheduler.
afterwards :: IO Bool
afterwards = do
  (group, _) <- saying $ do
    fails <- newTVarIO True
    group <- newFaulty fails (const (throwSTM (userError "gone"))) (const (return ()))
    threadDelay 1000
    return group
  gone <- isEjected group
  done <- newEmptyMVar
  let activations = GroupActivations group (const (throwSTM ThreadKilled)) (const (throwSTM ThreadKilled))
  s <- newMember activations (putMVar done 'a')
  atomically (enqueueAct s)
  a <- takeMVar done
  _ <- forkIO $ do
    setNextActivations (Just (Just activations))
    switch (\own -> enqueueAct own >> dequeueAct own)
    switch (\own -> enqueueAct own >> dequeueAct own)
    putMVar done 'b'
  b <- takeMVar done
  return (gone && (a, b) == ('a', 'b'))

-- One that has been given to its scheduler runs. One that waits gets an exception. One that has not run is dropped.
unreachable :: IO Bool
unreachable = do
  group <- newGroup "unreachable" Nothing usualPromise
  done <- newEmptyMVar
  _ <- newMember (activations group) (putMVar done "not run")
  _ <- forkBuiltIn $ do
    setNextActivations (Just (Just (activations group)))
    switch (\s -> enqueueBy (const (return ())) s >> builtInDequeueAct s)
    waits <- newTVarIO []
    (switch (\s -> writeTVar waits [s] >> dequeueAct s) >> putMVar done "woken")
      `catch` \e -> putMVar done (show (e :: BlockedIndefinitelyOnMVar))
  collected done
  said <- takeMVar done
  gone <- isEjected group
  return (said == show BlockedIndefinitelyOnMVar && not gone)
  where
    activations group = GroupActivations group (const retry) (const (return ()))
    collected done = replicateM_ 3 (performMajorGC >> threadDelay 1000) >> void (return done)

-- Schedulers of which each fails in one way at some moment. The number of those whose threads have all ended.
randomFaults :: Int -> IO Int
randomFaults n = do
  random <- newIORef (20140901 :: Int)
  let draw k = atomicModifyIORef' random (\r -> let r' = (r * 1103515245 + 12345) `mod` 2147483648 in (r', r' `div` 65536 `mod` k))
  waiting <- newEmptyMVar
  hole <- newEmptyMVar
  _ <- forkBuiltIn (atomically ownSCont >>= putMVar waiting >> takeMVar hole)
  waits <- takeMVar waiting
  (oks, _) <- saying' (replicateM n (oneFault waits draw))
  putMVar hole ()
  return (length (filter id oks))
  where
    -- A pipe would be full.
    saying' action = do
      null' <- openFd "/dev/null" WriteOnly Nothing defaultFileFlags
      saved <- dup stdError
      _ <- dupTo null' stdError
      closeFd null'
      a <- action `finally` (dupTo saved stdError >> closeFd saved)
      return (a, ())

oneFault :: SCont -> (Int -> IO Int) -> IO Bool
oneFault waits draw = do
  after <- draw 12
  kind <- draw 3
  steps <- draw 4
  fails <- newTVarIO False
  let raise = throwSTM (userError "random")
  _ <- newFaulty fails (\_ -> if kind == 0 then return waits else raise) (\_ -> if kind == 1 then raise else return ())
  done <- newTVarIO (0 :: Int)
  calls <- newTVarIO (0 :: Int)
  -- A thread of forkIO ends in a dequeue upcall, so that its scheduler cannot hang there.
  forM_ [1 .. 5 :: Int] $ \i -> forkIO $ do
    forM_ [0 .. steps] $ \k -> do
      count <- atomically (modifyTVar' calls (+ 1) >> readTVar calls)
      when (count == after) (atomically (writeTVar fails True))
      case (i + k) `mod` 4 of
        0 -> Concurrent.yield
        1 -> switch (\s -> enqueueAct s >> dequeueAct s) `catch` \e -> const (return ()) (e :: SomeException)
        2 -> void (forkIO (return ()))
        _ -> threadDelay 1
    atomically (modifyTVar' done (+ 1))
  atomically (readTVar done >>= check . (== 5))
  atomically (writeTVar fails True)
  Concurrent.yield
  (== 5) <$> readTVarIO done
