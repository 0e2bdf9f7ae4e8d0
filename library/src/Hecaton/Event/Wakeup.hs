-- | How a thread makes a sleeping manager go on. Wake-ups coalesce.
--
-- Protocol. One word says whether the manager is awake, is asleep, or has been notified.
--
--  1. The thread that steps the manager announces that it sleeps ('beginSleep'), and until when. Only then it looks
--     for the last time whether there is work, and waits.
--  2. A thread that has published work, a registration or a timeout, reads the word. If the manager is asleep, one
--     thread exchanges the word for /notified/ and signals the event descriptor. All other threads find it notified.
--  3. The manager wakes up, and says so ('endSleep').
--
-- Either the manager sees the work in step 1, or the other thread sees in step 2 that it is asleep: each of them
-- writes first and reads then, with full barriers in between. So no wake-up is lost. A manager that is not asleep is
-- told without a system call.
--
-- A manager that ends is not asleep, so no thread begins to signal it any more. It closes the event descriptor when
-- those that have begun are done: a late signal would go to the next descriptor with the same number.
module Hecaton.Event.Wakeup
  ( Wakeup,
    newWakeup,
    closeWakeup,
    wakeupFd,
    cleared,

    -- * The thread that sleeps
    beginSleep,
    endSleep,

    -- * The threads that wake it
    notify,
    interruptSleep,
    interruptSleepBeyond,
  )
where

import Control.Concurrent (yield)
import Control.Exception (mask_)
import Control.Monad
import Hecaton.Event.Atomic
import Hecaton.Event.System
import System.Posix.Types (Fd)

data Wakeup = Wakeup
  { -- | The state, the time at which the sleep ends by itself, and how many threads are about to signal.
    words_ :: !Words,
    -- | Readable once the manager has been notified. The back end watches it.
    wakeupFd :: !Fd
  }

state, deadline, signalling :: Int
state = 0
deadline = 1
signalling = 2

awake, asleep, notified :: Int
awake = 0
asleep = 1
notified = 2

newWakeup :: IO Wakeup
newWakeup = Wakeup <$> newWords 3 <*> newEventFd False

-- | Ends wake-ups. The manager is not asleep.
closeWakeup :: Wakeup -> IO ()
closeWakeup wakeup = do
  busy <- get (words_ wakeup) signalling
  if busy > 0 then yield >> closeWakeup wakeup else closeFd_ (wakeupFd wakeup)

-- | Makes the descriptor unreadable, after the back end has reported it.
cleared :: Wakeup -> IO ()
cleared = clear . wakeupFd

-- | Announces a sleep that ends at a certain time at the latest. False if somebody has called 'notify' since the last
-- sleep: then there is no sleep.
beginSleep :: Wakeup -> Int -> IO Bool
beginSleep wakeup end = do
  set (words_ wakeup) deadline end
  begun <- swapIf (words_ wakeup) state awake asleep
  unless begun (endSleep wakeup)
  pure begun

endSleep :: Wakeup -> IO ()
endSleep wakeup = set (words_ wakeup) state awake

-- | Ends the sleep, or keeps the next one from beginning. Says whether that took a signal.
notify :: Wakeup -> IO Bool
notify wakeup = do
  now <- get (words_ wakeup) state
  case () of
    _
      | now == notified -> pure False
      | now == asleep -> do
        done <- interruptSleep wakeup
        if done then pure True else notify wakeup
      | otherwise -> do
        done <- swapIf (words_ wakeup) state awake notified
        if done then pure False else notify wakeup

-- | Ends the sleep if there is one, because of work that the manager finds before it sleeps again.
interruptSleep :: Wakeup -> IO Bool
interruptSleep wakeup = do
  now <- get (words_ wakeup) state
  if now /= asleep
    then pure False
    else mask_ $ do
      _ <- add (words_ wakeup) signalling 1
      done <- swapIf (words_ wakeup) state asleep notified
      when done (signal (wakeupFd wakeup))
      _ <- add (words_ wakeup) signalling (-1)
      pure done

-- | The same, unless the sleep ends by itself until the given time.
interruptSleepBeyond :: Wakeup -> Int -> IO Bool
interruptSleepBeyond wakeup time = do
  now <- get (words_ wakeup) state
  end <- get (words_ wakeup) deadline
  if now == asleep && time < end then interruptSleep wakeup else pure False
