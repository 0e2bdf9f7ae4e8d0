-- | The event manager: the front end that ties back end, registrations, timeouts and callbacks together.
--
-- A step
--
--  1. makes the changes of the timeout queue that were asked for,
--  2. asks the back end for events without waiting,
--  3. if there are none and nothing is due, sleeps: it waits for the back end's descriptor as any Haskell thread waits
--     for a descriptor, and asks again,
--  4. has the 'Runner' call the callbacks of all events and timeouts.
--
-- The event descriptor of 'Wakeup' and a timer descriptor, which is set to the next deadline, are watched by the back
-- end like others. So a sleep takes one wait for one descriptor, whatever ends it. A back end without a descriptor of
-- its own is asked to wait, with a timeout.
module Hecaton.Event.Manager
  ( EventManager,
    newWith,
    Stats (..),
    stats,

    -- * The loop
    init,
    step,
    loop,
    shutdown,
    finished,
    wakeManager,

    -- * Descriptors
    registerFd,
    registerFd_,
    unregisterFd,
    unregisterFd_,
    closeFd,

    -- * Timeouts
    TimeoutKey,
    TimeoutCallback,
    registerTimeout,
    updateTimeout,
    unregisterTimeout,

    -- ** For timers built on timeouts
    newTimeoutKey,
    setTimeout,
    nowNs,
    afterUs,
  )
where

import Control.Concurrent (rtsSupportsBoundThreads, runInUnboundThread, threadWaitRead)
import Control.Concurrent.MVar
import Control.Exception
import Control.Monad
import Data.IORef
import Data.Maybe (fromMaybe)
import GHC.Clock (getMonotonicTimeNSec)
import Hecaton.Event.Atomic
import Hecaton.Event.Backend
import Hecaton.Event.Registrations
import Hecaton.Event.Runner
import Hecaton.Event.System
import Hecaton.Event.TimeoutQueue
import Hecaton.Event.Wakeup
import System.IO.Error
import System.Posix.Types (Fd)
import Prelude hiding (init)

-- | Watches descriptors and time, and calls callbacks. A program may have several managers, each for descriptors of
-- its own.
data EventManager = EventManager
  { backEnd :: !Backend,
    registrations :: !Registrations,
    runner :: !Runner,
    wakeup :: !Wakeup,
    timer :: !Fd,
    state :: !(IORef State),
    -- | Held through a step, so that there is one at a time.
    stepping :: !(MVar ()),
    -- | Changes of the timeout queue that no step has seen yet, the latest first.
    edits :: !(Stack Edit),
    -- | Changes that a step has seen and was interrupted before it could return a queue that has them. Only a step
    -- uses this.
    seen :: !(IORef [Edit]),
    -- | Last calls of callbacks whose descriptors were closed, the latest first.
    farewells :: !(Stack Job),
    -- | Numbers: see the indices below.
    counts :: !Words
  }

data State = Created | Running | Dying | Finished
  deriving (Eq)

-- Indices into 'counts'.
lastKey, editsWaiting, timerSet, polls, sleeps, eventsSeen, callbacksRun, timeoutsFired, wakeups, maxLate :: Int
lastKey = 0
editsWaiting = 1
timerSet = 2
polls = 3
sleeps = 4
eventsSeen = 5
callbacksRun = 6
timeoutsFired = 7
wakeups = 8
maxLate = 9

-- | When this number of changes of the timeout queue waits for a manager that sleeps, it is woken to make them. Changes
-- are kept alive as long as they wait, also those that undo each other.
maxEditsWaiting :: Int
maxEditsWaiting = 256

-- | The end of a sleep without timeouts.
never :: Int
never = maxBound

-- | A manager on a back end, which from now on is the manager's own. It uses two descriptors beside the back end's.
-- When nothing refers to a manager any more, it is shut down without its callbacks being called.
newWith :: Backend -> IO EventManager
newWith b = mask_ . flip onException (destroy b) $ do
  wakeup' <- newWakeup
  flip onException (closeWakeup wakeup') $ do
    timer' <- newTimerFd
    flip onException (closeFd_ timer') $ do
      modifyFd b (wakeupFd wakeup') mempty evtRead
      modifyFd b timer' mempty evtRead
      manager <-
        EventManager b <$> newRegistrations b (void (interruptSleep wakeup')) <*> newRunner
          <*> pure wakeup'
          <*> pure timer'
          <*> newIORef Created
          <*> newMVar ()
          <*> newStack
          <*> newIORef []
          <*> newStack
          <*> newWords 10
      _ <- mkWeakIORef (state manager) (release b wakeup' timer' (state manager))
      pure manager

-- | Releases what the system holds for a manager, unless that was done.
release :: Backend -> Wakeup -> Fd -> IORef State -> IO ()
release b wakeup' timer' state' = do
  before <- atomicModifyIORef' state' (\s -> (Finished, s))
  unless (before == Finished) $ do
    destroy b
    closeWakeup wakeup'
    closeFd_ timer'

-- | Prepares a new manager for its first step. An error if it was prepared before.
init :: EventManager -> IO ()
init manager = do
  before <- atomicModifyIORef' (state manager) $ \s -> (if s == Created then Running else s, s)
  when (before == Running) $ ioError (userError "Hecaton.Event.init: the event manager is running already")

-- | One round: waits until there is an event, a timeout is due, or the manager is woken, and calls the callbacks.
-- Returns whether there should be a next round, and the timeouts that are pending now. The first round is given
-- 'emptyQueue', and each other one what the round before it returned.
--
-- A step does not wait if 'wakeManager' was called since the last one. It returns when every callback has returned, or
-- has turned out to be slow. After 'shutdown', the next step releases the manager, and returns 'False'.
--
-- If an exception interrupts a step, the manager may be stepped again with the same queue.
step :: EventManager -> TimeoutQueue -> IO (Bool, TimeoutQueue)
step manager queue = withMVarMasked (stepping manager) $ \_ -> do
  now <- readIORef (state manager)
  case now of
    Created -> ioError (userError "Hecaton.Event.step: the event manager needs init first")
    Finished -> pure (False, emptyQueue)
    Dying -> cleanUp manager >> pure (False, emptyQueue)
    Running -> do
      queue' <- running manager queue
      after <- readIORef (state manager)
      when (after == Dying) $ cleanUp manager
      pure (after == Running, if after == Running then queue' else emptyQueue)

running :: EventManager -> TimeoutQueue -> IO TimeoutQueue
running manager queue = do
  settle (runner manager)
  changes <- takeEdits
  let edited = apply changes queue
  begin <- edited `seq` nowNs
  let late = fromMaybe never (nextDeadline edited)
      deadline = if late <= begin then begin else late
  events <- pollOrSleep manager begin deadline
  (jobs, calls) <- ready (registrations manager) events
  last' <- reverse <$> takeAll (farewells manager)
  end <- nowNs
  let (due, rest) = takeDue end edited
  -- From here on the timeouts that are due are not to come again, whatever happens.
  writeIORef (seen manager) (changes ++ [Delete (dueKey d) | d <- due])
  tally due end
  _ <- add (counts manager) callbacksRun (calls + length due)
  run (runner manager) (last' ++ jobs ++ [Job (guarded (dueAction d)) (pure (pure ())) | d <- due])
  writeIORef (seen manager) []
  pure rest
  where
    takeEdits = do
      before <- readIORef (seen manager)
      set (counts manager) editsWaiting 0
      new <- takeAll (edits manager)
      let changes = before ++ reverse new
      writeIORef (seen manager) changes
      pure changes
    tally [] _ = pure ()
    tally due@(first : _) end = do
      _ <- add (counts manager) timeoutsFired (length due)
      worst <- peek (counts manager) maxLate
      when (end - dueTime first > worst) $ set (counts manager) maxLate (end - dueTime first)

-- | The events that there are, after a sleep until the deadline at most if there are none.
pollOrSleep :: EventManager -> Int -> Int -> IO [(Fd, Event)]
pollOrSleep manager begin deadline = do
  events <- look (Timeout 0)
  idle <- if null events && deadline > begin then isEmpty (farewells manager) else pure False
  if not idle then pure events else sleep
  where
    sleep = do
      begun <- beginSleep (wakeup manager) deadline
      if not begun
        then pure []
        else flip onException (endSleep (wakeup manager)) $ do
          -- The last look, after the sleep was announced.
          nothing <- (&&) <$> isEmpty (edits manager) <*> isEmpty (farewells manager)
          goesOn <- (== Running) <$> readIORef (state manager)
          events <- if nothing && goesOn then wait else pure []
          endSleep (wakeup manager)
          pure events

    wait = do
      _ <- add (counts manager) sleeps 1
      case readyFd (backEnd manager) of
        Just fd -> do
          setUpTimer manager deadline
          threadWaitRead fd
          look (Timeout 0)
        Nothing -> do
          events <- look (if deadline == never then Forever else Timeout ((deadline - begin + 999999) `quot` 1000000))
          -- An exception that cut the call short is thrown here, where nothing has been done yet that it could undo.
          events <$ allowInterrupt

    look timeout = do
      found <- newIORef []
      _ <- add (counts manager) polls 1
      poll (backEnd manager) timeout $ \fd pending -> own fd pending found
      events <- reverse <$> readIORef found
      _ <- add (counts manager) eventsSeen (length events)
      pure events

    own fd pending found
      | fd == wakeupFd (wakeup manager) = cleared (wakeup manager)
      | fd == timer manager = clear fd >> set (counts manager) timerSet 0
      | otherwise = modifyIORef' found ((fd, pending) :)

-- | Makes the timer descriptor readable at the deadline, if there is one.
setUpTimer :: EventManager -> Int -> IO ()
setUpTimer manager deadline = do
  before <- peek (counts manager) timerSet
  when (deadline /= never && deadline /= before) $ do
    setTimer (timer manager) deadline
    set (counts manager) timerSet deadline

-- | Ends a manager: callbacks that are registered for 'evtClose' are called, timeouts are dropped.
cleanUp :: EventManager -> IO ()
cleanUp manager = do
  settle (runner manager)
  before <- takeAll (farewells manager)
  jobs <- withdrawAll (registrations manager)
  release (backEnd manager) (wakeup manager) (timer manager) (state manager)
  run (runner manager) (reverse before ++ jobs)
  _ <- takeAll (edits manager)
  writeIORef (seen manager) []
  stop (runner manager)

-- | Steps until 'shutdown'. An exception that ends the loop shuts the manager down, too. If a bound thread calls this,
-- as @main@ is, the steps are made by an unbound one, which costs less to switch to and from.
loop :: EventManager -> IO ()
loop manager = unbound $ do
  init manager
  go emptyQueue `onException` withMVarMasked (stepping manager) (const (cleanUp manager))
  where
    go queue = do
      (again, queue') <- step manager queue
      when again (go queue')
    unbound = if rtsSupportsBoundThreads then runInUnboundThread else id

-- | Asks a manager to end, and returns at once. The step that is under way, or the next one, is the last. It drops all
-- registrations and pending timeouts, and calls the callbacks that are registered for 'evtClose'. Callbacks may call
-- this.
shutdown :: EventManager -> IO ()
shutdown manager = do
  before <- atomicModifyIORef' (state manager) $ \s -> (if s == Finished then Finished else Dying, s)
  case before of
    -- There is no loop that would do it.
    Created -> withMVarMasked (stepping manager) (const (cleanUp manager))
    Running -> wakeManager manager
    _ -> pure ()

-- | Has the manager been shut down, and has it released everything?
finished :: EventManager -> IO Bool
finished manager = (== Finished) <$> readIORef (state manager)

-- | Wakes a manager: its step returns, and if it is not in one, the next step does not wait. Many calls before that
-- count as one.
wakeManager :: EventManager -> IO ()
wakeManager manager = notify (wakeup manager) >>= counted manager

counted :: EventManager -> Bool -> IO ()
counted manager signalled = when signalled . void $ add (counts manager) wakeups 1

-- | Registers a callback for events on a descriptor. In each step in which some of the events are pending, it is called
-- once with those. Returns the key of the registration, and whether the manager watches other events than before.
--
-- A sleeping manager is woken if that is so.
registerFd :: EventManager -> IOCallback -> Fd -> Event -> IO (FdKey, Bool)
registerFd manager called fd awaited = do
  result <- registerFd_ manager called fd awaited
  when (snd result) $ interrupted manager
  pure result

-- | Like 'registerFd', but does not wake the manager, which may see the registration only when something else wakes it.
-- After a number of registrations, call 'wakeManager' if one of them has returned 'True'.
registerFd_ :: EventManager -> IOCallback -> Fd -> Event -> IO (FdKey, Bool)
registerFd_ manager = register (registrations manager)

-- | Drops a registration. A call of its callback that has begun goes on, and no other one begins.
unregisterFd :: EventManager -> FdKey -> IO ()
unregisterFd manager key = do
  changed <- unregisterFd_ manager key
  when changed $ interrupted manager

-- | Like 'unregisterFd', but does not wake the manager. Returns whether it watches other events than before.
unregisterFd_ :: EventManager -> FdKey -> IO Bool
unregisterFd_ manager = unregister (registrations manager)

interrupted :: EventManager -> IO ()
interrupted manager = interruptSleep (wakeup manager) >>= counted manager

-- | Closes a descriptor by the given action, after dropping all its registrations. Those of their callbacks that are
-- registered for 'evtClose' are called with that in the next step.
closeFd :: EventManager -> (Fd -> IO ()) -> Fd -> IO ()
closeFd manager close fd = do
  jobs <- withdraw (registrations manager) fd
  close fd `finally` unless (null jobs) (mapM_ (push (farewells manager)) jobs >> interrupted manager)

-- | Names a timeout.
newtype TimeoutKey = TimeoutKey Int
  deriving (Eq, Ord, Show)

-- | What is called when a timeout is due.
type TimeoutCallback = IO ()

-- | Has a callback called once, after the given number of microseconds. If that is 0 or less, in the next step.
registerTimeout :: EventManager -> Int -> TimeoutCallback -> IO TimeoutKey
registerTimeout manager us action = do
  key <- newTimeoutKey manager
  time <- afterUs us
  setTimeout manager key time action
  pure key

-- | Changes the deadline of a timeout that is pending, to the given number of microseconds from now.
updateTimeout :: EventManager -> TimeoutKey -> Int -> IO ()
updateTimeout manager (TimeoutKey key) us = do
  time <- afterUs us
  edit manager time (Move key time)

-- | Drops a timeout. Its callback may still be called if it is due by now.
unregisterTimeout :: EventManager -> TimeoutKey -> IO ()
unregisterTimeout manager (TimeoutKey key) = edit manager never (Delete key)

-- | A key that no timeout of the manager has.
newTimeoutKey :: EventManager -> IO TimeoutKey
newTimeoutKey manager = TimeoutKey <$> add (counts manager) lastKey 1

-- | Registers a timeout for a time in nanoseconds, in place of the one with the same key, if that is pending.
setTimeout :: EventManager -> TimeoutKey -> Int -> TimeoutCallback -> IO ()
setTimeout manager (TimeoutKey key) time action = do
  over <- finished manager
  when over . ioError $
    mkIOError illegalOperationErrorType "registerTimeout: the event manager is shut down" Nothing Nothing
  edit manager time (Insert (Due key time action))

-- | Leaves a change for the next step, and wakes the manager if it sleeps too long to make it in time.
edit :: EventManager -> Int -> Edit -> IO ()
edit manager time change = do
  push (edits manager) change
  waiting <- add (counts manager) editsWaiting 1
  if waiting >= maxEditsWaiting
    then interrupted manager
    else interruptSleepBeyond (wakeup manager) time >>= counted manager

-- | The monotonic clock, in nanoseconds.
nowNs :: IO Int
nowNs = fromIntegral <$> getMonotonicTimeNSec

-- | The time that is a number of microseconds from now. What is too far away is the latest time there is.
afterUs :: Int -> IO Int
afterUs us = (\now -> if us >= (never - now) `quot` 1000 then never - 1 else now + max 0 us * 1000) <$> nowNs

-- | What a manager has done so far, and has to do.
data Stats = Stats
  { -- | Descriptors with registrations.
    statDescriptors :: !Int,
    -- | Calls of the back end's poll.
    statPolls :: !Int,
    -- | Steps that had nothing to do and slept.
    statSleeps :: !Int,
    -- | Descriptors that the back end has reported, once for each report.
    statEvents :: !Int,
    -- | Calls of callbacks, timeouts among them.
    statCallbacks :: !Int,
    -- | Callbacks that the loop has not waited for to the end.
    statSlowCallbacks :: !Int,
    -- | Timeouts that were due.
    statTimeouts :: !Int,
    -- | How much later than asked the latest of them was begun, in microseconds.
    statMaxLateness :: !Int,
    -- | Wake-ups that took a signal. All others found the manager awake or notified.
    statWakeups :: !Int
  }
  deriving (Eq, Show)

-- | What a manager has done so far. The numbers are read one after the other.
stats :: EventManager -> IO Stats
stats manager = do
  descriptors <- count (registrations manager)
  slow <- slowJobs (runner manager)
  let number = get (counts manager)
  Stats descriptors <$> number polls <*> number sleeps <*> number eventsSeen <*> number callbacksRun <*> pure slow
    <*> number timeoutsFired
    <*> fmap (`quot` 1000) (number maxLate)
    <*> number wakeups
