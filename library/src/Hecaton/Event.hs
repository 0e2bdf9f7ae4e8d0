-- | An event manager for programs that are driven by events: callbacks for descriptors and for timeouts,
-- level-triggered and called from a loop that the program runs.
--
-- The interface is that of the paper by O\'Sullivan and Tibell, /Scalable Event Handling for GHC/ (Haskell Symposium
-- 2010, section 6). A server that echoes what it receives:
--
-- > main = do
-- >   manager <- new
-- >   _ <- registerFd manager (accepted manager) listening evtRead
-- >   loop manager
-- >
-- > accepted manager _ _ = do
-- >   connection <- accept listening
-- >   void (registerFd manager echo connection evtRead)
-- >   where
-- >     echo key _ = do
-- >       bytes <- receive (keyFd key)
-- >       if null bytes then closeFd manager close (keyFd key) else send (keyFd key) bytes
--
-- [Callbacks] All callbacks run in steps of the manager ('step', 'loop'), on a thread that the manager keeps for them;
--   the step waits for them. A callback that has not returned after some milliseconds is left to itself: the step goes
--   on, and the callback too. Its descriptor is not watched until it returns. So callbacks may block. The callbacks of
--   one descriptor never run at the same time.
-- [Exceptions] What a callback throws is reported like an exception that ends a thread, and the loop goes on.
-- [Level-triggered] A callback is called in each step in which its events are pending, until it is unregistered. So it
-- need not read everything that is there.
-- [Several managers] A program may have several managers and run a loop on each. A descriptor belongs to one of them.
-- [Threads] Everything here may be called from any thread, also from callbacks, except that one thread at a time steps
--   a manager (a second one waits). A sleeping loop occupies no HEC, and on the epoll back end no operating system
--   thread either.
-- [Processes] After 'System.Posix.Process.forkProcess', the child must make managers of its own.
--
-- Functions that wait without callbacks ('wait', 'waitAny') and batches of file operations ('submit') need no manager.
module Hecaton.Event
  ( -- * Managers
    EventManager,
    new,
    newWith,

    -- ** Back ends
    Backend,
    newDefaultBackend,
    backends,
    backend,
    readyWith,
    Timeout (..),

    -- ** The loop
    init,
    step,
    TimeoutQueue,
    emptyQueue,
    loop,
    wakeManager,
    shutdown,
    finished,

    -- * Descriptors
    Event,
    evtRead,
    evtWrite,
    evtClose,
    contains,
    IOCallback,
    FdKey,
    keyFd,
    registerFd,
    registerFd_,
    unregisterFd,
    unregisterFd_,
    closeFd,

    -- * Timeouts
    TimeoutCallback,
    TimeoutKey,
    registerTimeout,
    updateTimeout,
    unregisterTimeout,

    -- ** Timers
    Timer,
    after,
    every,
    reset,
    cancel,

    -- * Statistics
    Stats (..),
    stats,

    -- * Waiting without a manager
    wait,
    waitAny,
    Source,
    onFd,
    onTimer,
    onSTM,

    -- * File operations
    submit,
    Op,
    readAt,
    writeAt,
    syncData,
  )
where

import Hecaton.Event.Backend
import qualified Hecaton.Event.Epoll as Epoll
import Hecaton.Event.Files
import Hecaton.Event.Manager
import qualified Hecaton.Event.Poll as Poll
import Hecaton.Event.Registrations
import Hecaton.Event.TimeoutQueue
import Hecaton.Event.Timer
import Hecaton.Event.Wait
import Prelude hiding (init)

-- | A manager on the default back end.
new :: IO EventManager
new = newDefaultBackend >>= newWith

-- | The fastest back end that this system has: epoll.
newDefaultBackend :: IO Backend
newDefaultBackend = Epoll.new

-- | All back ends by their names, the fastest first.
backends :: [(String, IO Backend)]
backends = [("epoll", Epoll.new), ("poll", Poll.new)]
