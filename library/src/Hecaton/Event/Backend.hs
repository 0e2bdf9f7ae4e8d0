{-# LANGUAGE ExistentialQuantification #-}
{-# LANGUAGE GeneralizedNewtypeDeriving #-}

-- | What a back end is: the part of an event manager that asks the operating system which descriptors are ready.
--
-- The manager is the front end. It keeps the registrations, and tells the back end of each descriptor whose set of
-- awaited events changes ('modifyFd'). Once in each step it asks for the events that are there ('poll').
module Hecaton.Event.Backend
  ( -- * Sets of events
    Event,
    evtNothing,
    evtRead,
    evtWrite,
    evtClose,
    toNumber,
    fromNumber,
    contains,
    intersects,
    common,
    without,

    -- * Back ends
    Timeout (..),
    Backend,
    backend,
    readyWith,
    poll,
    modifyFd,
    destroy,
    readyFd,
  )
where

import Data.Bits
import Data.List (intercalate)
import System.Posix.Types (Fd)

-- | A set of events to wait for. The monoid's operation is union, and 'mempty' the empty set.
newtype Event = Event Int
  deriving (Eq, Ord)

instance Semigroup Event where
  Event a <> Event b = Event (a .|. b)
  {-# INLINE (<>) #-}

instance Monoid Event where
  mempty = Event 0
  {-# INLINE mempty #-}

instance Show Event where
  showsPrec _ e = showChar '[' . showString (intercalate "," found) . showChar ']'
    where
      found = [name | (one, name) <- names, e `intersects` one]
      names = [(evtRead, "evtRead"), (evtWrite, "evtWrite"), (evtClose, "evtClose")]

-- | No event. The same as 'mempty'.
evtNothing :: Event
evtNothing = Event 0

-- | There is data to read, the other side has closed its end, or there is an error.
evtRead :: Event
evtRead = Event 1

-- | The descriptor takes data, or there is an error.
evtWrite :: Event
evtWrite = Event 2

-- | The registration is over, because the descriptor was closed by 'Hecaton.Event.closeFd' or the manager was shut
-- down. A callback that is registered for this beside other events is told so by its last call. The number may be
-- another descriptor's by then.
evtClose :: Event
evtClose = Event 4

-- | The sum of 1 for 'evtRead', 2 for 'evtWrite' and 4 for 'evtClose'.
toNumber :: Event -> Int
toNumber (Event n) = n

fromNumber :: Int -> Event
fromNumber = Event

-- | Are all events of the second set in the first one?
contains :: Event -> Event -> Bool
contains (Event a) (Event b) = a .&. b == b
{-# INLINE contains #-}

-- | Do two sets have an event in common?
intersects :: Event -> Event -> Bool
intersects (Event a) (Event b) = a .&. b /= 0
{-# INLINE intersects #-}

-- | The events that are in both sets.
common :: Event -> Event -> Event
common (Event a) (Event b) = Event (a .&. b)
{-# INLINE common #-}

-- | The events of the first set that are not in the second one.
without :: Event -> Event -> Event
without (Event a) (Event b) = Event (a .&. complement b)
{-# INLINE without #-}

-- | How long a back end may wait for an event.
data Timeout
  = -- | At most this number of milliseconds. With 0 it must not wait at all.
    Timeout {-# UNPACK #-} !Int
  | -- | Until an event comes.
    Forever
  deriving (Eq, Show)

-- | A way to ask the operating system for events. A program gets one by 'Hecaton.Event.newDefaultBackend', from
-- "Hecaton.Event.Epoll" or "Hecaton.Event.Poll", or makes its own by 'backend'. A back end belongs to one manager.
data Backend = forall a. Backend
  { _beState :: !a,
    _bePoll :: a -> Timeout -> (Fd -> Event -> IO ()) -> IO (),
    _beModifyFd :: a -> Fd -> Event -> Event -> IO (),
    _beDestroy :: a -> IO (),
    _beReadyFd :: !(Maybe Fd)
  }

-- | A back end of one's own, from three operations and their state.
--
-- [poll] Calls the given function once for each descriptor with new events. It waits for the first one as long as the
--   timeout allows. Only one thread polls at a time. If it waits in an /unsafe/ foreign call, all Haskell threads of
--   its HEC wait with it, so a call that waits has to be @safe@ or @interruptible@; such a call occupies an operating
--   system thread as long as it waits. 'readyWith' avoids both.
-- [modify] Is given a descriptor, the events that were awaited on it so far, and those that are from now on. An empty
--   old set means that the descriptor is new, an empty new set that it is to be forgotten. Calls come from any thread,
--   one at a time, also while another thread polls. What it throws is thrown to the thread that registers.
-- [destroy] Releases the state. It is called once, and nothing after it.
--
-- Events are level-triggered: as long as an awaited event is pending, each poll must report it.
backend ::
  -- | poll
  (a -> Timeout -> (Fd -> Event -> IO ()) -> IO ()) ->
  -- | modify
  (a -> Fd -> Event -> Event -> IO ()) ->
  -- | destroy
  (a -> IO ()) ->
  -- | state
  a ->
  Backend
backend polls modifies destroys state = Backend state polls modifies destroys Nothing

-- | Names a descriptor that is readable whenever a poll would report something, as an epoll set is. The manager then
-- waits for that descriptor as any Haskell thread does, and never lets the back end wait: it polls with @'Timeout' 0@.
readyWith :: Fd -> Backend -> Backend
readyWith fd b = b {_beReadyFd = Just fd}

-- | Asks for events.
poll :: Backend -> Timeout -> (Fd -> Event -> IO ()) -> IO ()
poll (Backend state polls _ _ _) = polls state
{-# INLINE poll #-}

-- | Changes the events awaited on a descriptor, from the first set to the second.
modifyFd :: Backend -> Fd -> Event -> Event -> IO ()
modifyFd (Backend state _ modifies _ _) = modifies state
{-# INLINE modifyFd #-}

-- | Releases a back end.
destroy :: Backend -> IO ()
destroy (Backend state _ _ destroys _) = destroys state

-- | The descriptor given by 'readyWith'.
readyFd :: Backend -> Maybe Fd
readyFd = _beReadyFd
