-- What each outcome of the transaction of a switch does.
module SwitchChecks (switchChecks) where

import Control.Concurrent (forkIO, myThreadId, threadDelay)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic (fromDynamic, toDyn)
import Data.IORef
import GHC.Conc (ThreadStatus (..), threadStatus, unsafeIOToSTM)
import Hecaton.Substrate
import OnSubstrate
import RoundRobin
import System.Mem (performMajorGC)

switchChecks :: IO ()
switchChecks =
  substrateProgram
    [ expect "returning oneself only commits" (1 :: Int, 1 :: Int) returningOneself
    , expect "and takes back an enqueueAct of oneself" True takingBack
    , expect "an exception discards the effects" (0 :: Int, True) raising
    , expect "an exception of an activation reaches the caller" True activationRaises
    , expect "retry sleeps until a variable changes" [1, 2, 3 :: Int] retrying
    , expect "orElse in a switch undoes" (7 :: Int) alternatives
    , expect "a stale SCont is passed over" "effects, other" stale
    , expect "a stale SCont of a thread that has ended" "effects, other" ended
    , expect "enqueueAct passes over a stale one" True staleEnqueue
    , expect "isStale tells which is" (False, False, True, False) staleness
    , expect "a running SCont is refused" (True, True, True) refused
    , expect "activations are inherited" "child, grandchild" inherited
    , expect "aux fields" (Just 'a', Just (), Just 'b') auxFields
    , expect "SConts are ordered as their threads" True ordered
    , expect "run times are of the thread alone" (True, True) runTimes
    , expect "getCurrentHEC, getNumHECs, runOnIdleHEC, clock" (True, True, True) queries
    , expect "a switch within a transaction is refused" True nested
    ]

returningOneself :: IO (Int, Int)
returningOneself = do
  runs <- newIORef (0 :: Int)
  v <- newTVarIO 0
  switch (\s -> unsafeIOToSTM (modifyIORef runs (+ 1)) >> writeTVar v 1 >> return s)
  (,) <$> readTVarIO v <*> readIORef runs

takingBack :: IO Bool
takingBack = do
  newScheduler
  switch (\s -> enqueueAct s >> return s)
  -- What is in the queue is of no use now, but the thread runs on.
  seen <- newTVarIO False
  fork (atomically (writeTVar seen True))
  waitFor (readTVar seen)
  readTVarIO seen

raising :: IO (Int, Bool)
raising = do
  newScheduler
  v <- newTVarIO 0
  r <- try (switch (\s -> writeTVar v 1 >> enqueueAct s >> throwSTM (ErrorCall "in a switch")))
  ran <- newTVarIO False
  fork (atomically (writeTVar ran True))
  waitFor (readTVar ran)
  value <- readTVarIO v
  return (value, either (\(ErrorCall _) -> True) (const False) r)

activationRaises :: IO Bool
activationRaises = do
  newScheduler
  setDequeueAct (\_ -> throwSTM (ErrorCall "in an activation"))
  either (\(ErrorCall _) -> True) (const False) <$> try yield

-- The thread that sleeps in the switch is woken by one of the built-in scheduler.
retrying :: IO [Int]
retrying = do
  newScheduler
  v <- newTVarIO 0
  seen <- newTVarIO []
  forkBuiltIn $ forM_ [1, 2, 3] $ \n -> do
    threadDelay 2000
    performMajorGC
    atomically (readTVar v >>= \old -> check (old == 0) >> writeTVar v n)
  replicateM_ 3 $ switch $ \s -> do
    n <- readTVar v
    check (n /= 0)
    writeTVar v 0
    modifyTVar' seen (n :)
    return s
  reverse <$> readTVarIO seen

alternatives :: IO Int
alternatives = do
  v <- newTVarIO 5
  switch (\s -> (writeTVar v 6 >> enqueueAct s >> retry) `orElse` (modifyTVar' v (+ 2) >> return s))
  readTVarIO v

-- A switch to an SCont that has been used: its effects stand, and the next one of the queue runs.
stale :: IO String
stale = do
  newScheduler
  used <- newTVarIO Nothing
  s <- forkSCont (switch (\me -> writeTVar used (Just me) >> enqueueAct me >> dequeueAct me))
  yield
  yield
  thenOther (return s)

ended :: IO String
ended = do
  newScheduler
  own <- newTVarIO Nothing
  _ <- forkIO (switch (\s -> writeTVar own (Just s) >> return s))
  s <- atomically (readTVar own >>= maybe retry return)
  waitFor (unsafeIOToSTM ((== ThreadFinished) <$> threadStatus (threadOf s)))
  thenOther (return s)

-- What a switch to a stale SCont is followed by.
thenOther :: STM SCont -> IO String
thenOther choice = do
  v <- newTVarIO ""
  fork (atomically (modifyTVar' v (++ "other")))
  switch (\me -> modifyTVar' v (++ "effects, ") >> enqueueAct me >> choice)
  readTVarIO v

-- A passive SCont, after it has run, and the own one before and after a switch.
staleness :: IO (Bool, Bool, Bool, Bool)
staleness = do
  newScheduler
  before <- atomically ownSCont
  s <- forkSCont (return ())
  passive <- atomically (isStale s)
  own <- atomically (isStale before)
  yield
  used <- (&&) <$> atomically (isStale s) <*> atomically (isStale before)
  after <- atomically (ownSCont >>= isStale)
  return (passive, own, used, after)

staleEnqueue :: IO Bool
staleEnqueue = do
  newScheduler
  ran <- newTVarIO (0 :: Int)
  s <- forkSCont (atomically (modifyTVar' ran (+ 1)))
  atomically (enqueueAct s)
  yield
  yield
  atomically (enqueueAct s)
  yield
  (== 1) <$> readTVarIO ran

refused :: IO (Bool, Bool, Bool)
refused = do
  newScheduler
  me <- atomically ownSCont
  own <- raises SContRunning (atomically (enqueueAct me))
  -- The thread of the built-in scheduler meets this one while it waits for a delay.
  result <- newTVarIO Nothing
  forkBuiltIn $ do
    aux <- raises SContRunning (atomically (setAux me (toDyn 'x')))
    chosen <- raises SContRunning (switch (\_ -> return me))
    atomically (writeTVar result (Just (aux, chosen)))
  (aux, chosen) <- atomically (readTVar result >>= maybe retry return)
  return (own, aux, chosen)

inherited :: IO String
inherited = do
  newScheduler
  v <- newTVarIO ""
  left <- newTVarIO (2 :: Int)
  let say name = atomically (modifyTVar' v (++ name) >> modifyTVar' left (subtract 1))
  fork (fork (say "grandchild") >> say "child, ")
  waitFor ((== 0) <$> readTVar left)
  readTVarIO v

auxFields :: IO (Maybe Char, Maybe (), Maybe Char)
auxFields = do
  s <- newSCont (return ())
  switch (\s' -> setAux s' (toDyn 'a') >> return s')
  first <- atomically (getAux s)
  atomically (setAux s (toDyn 'b'))
  performMajorGC
  me <- atomically ownSCont
  atomically ((,,) <$> (fromDynamic <$> getAux me) <*> pure (fromDynamic first) <*> (fromDynamic <$> getAux s))

ordered :: IO Bool
ordered = do
  s <- newSCont (return ())
  t <- newSCont (return ())
  me <- atomically ownSCont
  this <- myThreadId
  return (s == s && s /= t && s < t && me < s && threadOf me == this && threadOf s < threadOf t)

queries :: IO (Bool, Bool, Bool)
queries = do
  hec <- atomically getCurrentHEC
  n <- getNumHECs
  s <- newSCont (return ())
  none <- raises NoIdleHEC (runOnIdleHEC s)
  t <- atomically clock
  u <- atomically clock
  return (0 <= hec && hec < n, none == (n == 1), t <= u)

-- The child computes while this thread is passive.
runTimes :: IO (Bool, Bool)
runTimes = do
  newScheduler
  ended <- newTVarIO False
  s <- forkSCont (atomically ownSCont >>= compute >> atomically (writeTVar ended True))
  me <- atomically ownSCont
  before <- atomically (runTime me)
  waitFor (readTVar ended)
  after <- atomically (runTime me)
  child <- atomically (runTime s)
  return (child >= computed, after - before < child)
  where
    compute me = atomically (runTime me) >>= \t -> if t < computed then compute me else return ()
    computed = 10000000

nested :: IO Bool
nested = do
  r <- try (atomically (unsafeIOToSTM (switch return)))
  return (either (\e -> const True (e :: SomeException)) (const False) r)
