{-# LANGUAGE CApiFFI #-}
{-# LANGUAGE InterruptibleFFI #-}

-- | The back end on Linux's @epoll@: its cost grows with the number of descriptors that are ready, not with the number
-- of those that are registered.
--
-- A descriptor stays in the epoll set as long as events are awaited on it, so a step takes no system call beside
-- @epoll_wait@. The set is a descriptor itself and is readable when it has events. That is what the manager waits for.
module Hecaton.Event.Epoll
  ( new,
  )
where

import Control.Exception (onException)
import Control.Monad
import Data.Foldable (for_)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Foreign hiding (new, void)
import Foreign.C
import GHC.Conc (closeFdWith)
import Hecaton.Event.Backend
import Hecaton.Event.System
import System.Posix.Types (Fd (..))

foreign import capi unsafe "sys/epoll.h epoll_create1" c_epoll_create1 :: CInt -> IO CInt

foreign import ccall unsafe "epoll_ctl" c_epoll_ctl :: CInt -> CInt -> CInt -> Ptr Word8 -> IO CInt

foreign import ccall unsafe "epoll_wait" c_epoll_look :: CInt -> Ptr Word8 -> CInt -> CInt -> IO CInt

foreign import ccall interruptible "epoll_wait" c_epoll_wait :: CInt -> Ptr Word8 -> CInt -> CInt -> IO CInt

foreign import capi "sys/epoll.h value EPOLL_CLOEXEC" epollCloexec :: CInt

foreign import capi "sys/epoll.h value EPOLL_CTL_ADD" ctlAdd :: CInt

foreign import capi "sys/epoll.h value EPOLL_CTL_MOD" ctlMod :: CInt

foreign import capi "sys/epoll.h value EPOLL_CTL_DEL" ctlDel :: CInt

foreign import capi "sys/epoll.h value EPOLLIN" epollIn :: Word32

foreign import capi "sys/epoll.h value EPOLLOUT" epollOut :: Word32

foreign import capi "sys/epoll.h value EPOLLERR" epollErr :: Word32

foreign import capi "sys/epoll.h value EPOLLHUP" epollHup :: Word32

data Epoll = Epoll
  { set :: !Fd,
    -- | Room for the events of one call.
    buffer :: !(ForeignPtr Word8),
    -- | Descriptors that the system does not take into an epoll set, such as those of files. They are always ready.
    -- Only 'modify' changes this.
    always :: !(IORef (IntMap.IntMap Event)),
    -- | A signalled event descriptor, which makes the set readable as long as there are such descriptors.
    bell :: !Fd
  }

-- | How many events one call returns at most. The system reports the others first by the next call.
batch :: Int
batch = 256

-- | The size of @struct epoll_event@ on x86-64: 4 bytes of events and 8 of data, packed.
eventBytes :: Int
eventBytes = 12

-- | A new back end.
new :: IO Backend
new = do
  epoll <- Fd <$> orThrow "epoll_create1" (c_epoll_create1 epollCloexec)
  flip onException (closeFd_ epoll) $ do
    signalled <- newEventFd True
    room <- mallocForeignPtrBytes (batch * eventBytes)
    files <- newIORef IntMap.empty
    pure (readyWith epoll (backend pollSet modify destroySet (Epoll epoll room files signalled)))

destroySet :: Epoll -> IO ()
destroySet epoll = do
  closeFdWith closeFd_ (set epoll)
  closeFd_ (bell epoll)

pollSet :: Epoll -> Timeout -> (Fd -> Event -> IO ()) -> IO ()
pollSet epoll timeout report = do
  files <- readIORef (always epoll)
  withForeignPtr (buffer epoll) $ \events -> do
    n <- wait (set epoll) events timeout
    for_ [0 .. n - 1] $ \i -> do
      let event = events `plusPtr` (i * eventBytes)
      flags <- peek (castPtr event) :: IO Word32
      fd <- peekByteOff event 4 :: IO CInt
      unless (Fd fd == bell epoll) $ report (Fd fd) (fromFlags flags)
  for_ (IntMap.toList files) $ \(fd, awaited) -> report (fromIntegral fd) awaited

-- | How many events there are now. An interrupted wait has none.
wait :: Fd -> Ptr Word8 -> Timeout -> IO Int
wait (Fd fd) events timeout = do
  n <- case timeout of
    Timeout 0 -> c_epoll_look fd events room 0
    Timeout ms -> c_epoll_wait fd events room (fromIntegral ms)
    Forever -> c_epoll_wait fd events room (-1)
  if n >= 0
    then pure (fromIntegral n)
    else do
      errno <- getErrno
      if errno == eINTR then pure 0 else throwErrno "epoll_wait"
  where
    room = fromIntegral batch

-- | An error or a hang-up is an event for either direction: what is tried there fails at once.
fromFlags :: Word32 -> Event
fromFlags flags = both <> one epollIn evtRead <> one epollOut evtWrite
  where
    both = one (epollErr .|. epollHup) (evtRead <> evtWrite)
    one flag event = if flags .&. flag /= 0 then event else mempty

toFlags :: Event -> Word32
toFlags events = one evtRead epollIn .|. one evtWrite epollOut
  where
    one event flag = if events `contains` event then flag else 0

-- | Tells the system of a change. Programs may have closed a descriptor before they unregister it, and the system may
-- have given its number out again; so that a number is in the set or is not in it comes as no surprise.
modify :: Epoll -> Fd -> Event -> Event -> IO ()
modify epoll fd old new'
  | new' == mempty = do
    -- Fails only if it is not there any more.
    void (control epoll ctlDel fd mempty)
    forget
  | old == mempty = attempt ctlAdd eEXIST ctlMod
  | otherwise = attempt ctlMod eNOENT ctlAdd
  where
    attempt operation surprise other = do
      first <- control epoll operation fd new'
      errno <- if first == surprise then control epoll other fd new' else pure first
      if errno == eOK
        then forget
        else if errno == ePERM then keep else ioError (errnoToIOError "epoll_ctl" errno Nothing Nothing)
    number = fromIntegral fd
    keep = do
      files <- readIORef (always epoll)
      when (IntMap.null files) $ void (control epoll ctlAdd (bell epoll) evtRead)
      writeIORef (always epoll) $! IntMap.insert number new' files
    forget = do
      files <- readIORef (always epoll)
      when (number `IntMap.member` files) $ do
        let left = IntMap.delete number files
        when (IntMap.null left) $ void (control epoll ctlDel (bell epoll) mempty)
        writeIORef (always epoll) $! left

-- | Calls @epoll_ctl@, and returns its error or 'eOK'.
control :: Epoll -> CInt -> Fd -> Event -> IO Errno
control epoll operation (Fd fd) events = allocaBytes eventBytes $ \event -> do
  poke (castPtr event) (toFlags events)
  pokeByteOff event 4 (fromIntegral fd :: Int64)
  let Fd epollFd = set epoll
  result <- c_epoll_ctl epollFd operation fd event
  if result == 0 then pure eOK else getErrno
