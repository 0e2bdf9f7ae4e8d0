-- | Timers on an event manager: once or again and again, and able to be started anew.
module Hecaton.Event.Timer
  ( Timer,
    after,
    every,
    reset,
    cancel,
  )
where

import Control.Monad
import Hecaton.Event.Atomic
import Hecaton.Event.Manager
import Hecaton.Event.Runner (guarded)

-- | Something that is done later.
data Timer = Timer
  { manager :: !EventManager,
    key :: !TimeoutKey,
    -- | Between two runs, in nanoseconds, or 0.
    period :: !Int,
    action :: IO (),
    -- | The number of the start that is pending, or 0; and the number of the last start.
    starts :: !Words
  }

pending, lastStart :: Int
pending = 0
lastStart = 1

-- | Runs an action once, after the given number of microseconds.
after :: EventManager -> Int -> IO () -> IO Timer
after m us = newTimer m 0 us

-- | Runs an action periodically. The period is in microseconds, at least one. Runs do not overlap, and do not drift: a
-- run that takes longer than the period is followed by the next one that is due after its end.
every :: EventManager -> Int -> IO () -> IO Timer
every m us = newTimer m (1000 * max 1 us) us

newTimer :: EventManager -> Int -> Int -> IO () -> IO Timer
newTimer m between us todo = do
  timer <- Timer m <$> newTimeoutKey m <*> pure between <*> pure todo <*> newWords 2
  reset timer us
  pure timer

-- | Starts a timer anew, whether it is pending or not: it runs after the given number of microseconds, and from then
-- on with its period if it is one of 'every'.
reset :: Timer -> Int -> IO ()
reset timer us = do
  start <- add (starts timer) lastStart 1
  set (starts timer) pending start
  time <- afterUs us
  begin timer start time

begin :: Timer -> Int -> Int -> IO ()
begin timer start time = setTimeout (manager timer) (key timer) time (fire timer start time)

fire :: Timer -> Int -> Int -> IO ()
fire timer start time
  | period timer == 0 = do
    mine <- swapIf (starts timer) pending start 0
    when mine $ action timer
  | otherwise = do
    mine <- isPending
    when mine $ do
      guarded (action timer)
      again <- isPending
      over <- finished (manager timer)
      when (again && not over) $ do
        now <- nowNs
        let missed = max 0 (now - time) `quot` period timer
        begin timer start (time + (missed + 1) * period timer)
  where
    isPending = (== start) <$> get (starts timer) pending

-- | Stops a timer. Returns whether it was pending, so that its action does not run any more. The action of a timer of
-- 'every' may be running just now.
cancel :: Timer -> IO Bool
cancel timer = do
  start <- get (starts timer) pending
  if start == 0
    then pure False
    else do
      mine <- swapIf (starts timer) pending start 0
      if mine then True <$ unregisterTimeout (manager timer) (key timer) else cancel timer
