{-# LANGUAGE CApiFFI #-}

-- | The system calls that managers and back ends share: event and timer descriptors, and closing.
--
-- The calls here never wait, so they are unsafe foreign calls.
module Hecaton.Event.System
  ( -- * Event descriptors
    newEventFd,
    signal,
    clear,

    -- * Timer descriptors
    newTimerFd,
    setTimer,

    -- * Any descriptor
    closeFd_,
    orThrow,
  )
where

import Control.Monad (void)
import Data.Word
import Foreign hiding (void)
import Foreign.C
import System.Posix.Types (CSsize (..), Fd (..))

foreign import capi unsafe "sys/eventfd.h eventfd" c_eventfd :: CUInt -> CInt -> IO CInt

foreign import ccall unsafe "read" c_read :: CInt -> Ptr Word64 -> CSize -> IO CSsize

foreign import ccall unsafe "write" c_write :: CInt -> Ptr Word64 -> CSize -> IO CSsize

foreign import ccall unsafe "close" c_close :: CInt -> IO CInt

foreign import capi unsafe "sys/timerfd.h timerfd_create" c_timerfd_create :: CInt -> CInt -> IO CInt

foreign import ccall unsafe "timerfd_settime" c_timerfd_settime :: CInt -> CInt -> Ptr Int64 -> Ptr Int64 -> IO CInt

foreign import capi "sys/eventfd.h value EFD_CLOEXEC" efdCloexec :: CInt

foreign import capi "sys/eventfd.h value EFD_NONBLOCK" efdNonblock :: CInt

foreign import capi "sys/timerfd.h value TFD_CLOEXEC" tfdCloexec :: CInt

foreign import capi "sys/timerfd.h value TFD_NONBLOCK" tfdNonblock :: CInt

foreign import capi "sys/timerfd.h value TFD_TIMER_ABSTIME" timerAbstime :: CInt

foreign import capi "time.h value CLOCK_MONOTONIC" clockMonotonic :: CInt

-- | A descriptor that is readable once it has been signalled. It is signalled from the start if asked so.
newEventFd :: Bool -> IO Fd
newEventFd signalled = Fd <$> orThrow "eventfd" (c_eventfd (if signalled then 1 else 0) (efdCloexec .|. efdNonblock))

-- | Makes an event descriptor readable. Signals add up to one until they are cleared, and none is lost.
signal :: Fd -> IO ()
signal (Fd fd) = with 1 $ \one -> void (c_write fd one 8)

-- | Makes an event or timer descriptor unreadable until the next signal.
clear :: Fd -> IO ()
clear (Fd fd) = alloca $ \count -> void (c_read fd count 8)

-- | A descriptor that becomes readable at a certain time.
newTimerFd :: IO Fd
newTimerFd = Fd <$> orThrow "timerfd_create" (c_timerfd_create clockMonotonic (tfdCloexec .|. tfdNonblock))

-- | Sets a timer descriptor to fire once, at this time of the monotonic clock in nanoseconds.
setTimer :: Fd -> Int -> IO ()
setTimer (Fd fd) ns = withArray [0, 0, fromIntegral seconds, fromIntegral rest] $ \spec ->
  void (orThrow "timerfd_settime" (c_timerfd_settime fd timerAbstime spec nullPtr))
  where
    (seconds, rest) = ns `quotRem` 1000000000

-- | Closes a descriptor for which no thread waits.
closeFd_ :: Fd -> IO ()
closeFd_ (Fd fd) = void (c_close fd)

-- | Throws the error of a call that returned a negative number.
orThrow :: String -> IO CInt -> IO CInt
orThrow = throwErrnoIfMinus1
