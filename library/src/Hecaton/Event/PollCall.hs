{-# LANGUAGE CApiFFI #-}
{-# LANGUAGE InterruptibleFFI #-}

-- | The system call @poll@.
module Hecaton.Event.PollCall
  ( pollFor,
    look,
  )
where

import Control.Concurrent (rtsSupportsBoundThreads, threadDelay)
import Control.Monad
import Data.Foldable (for_)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Foreign hiding (void)
import Foreign.C
import GHC.Clock (getMonotonicTimeNSec)
import Hecaton.Event.Backend
import System.Posix.Types (Fd (..))

foreign import ccall unsafe "poll" c_poll_look :: Ptr Word8 -> CULong -> CInt -> IO CInt

foreign import ccall interruptible "poll" c_poll_wait :: Ptr Word8 -> CULong -> CInt -> IO CInt

foreign import capi "poll.h value POLLIN" pollIn :: Word16

foreign import capi "poll.h value POLLOUT" pollOut :: Word16

foreign import capi "poll.h value POLLERR" pollErr :: Word16

foreign import capi "poll.h value POLLHUP" pollHup :: Word16

foreign import capi "poll.h value POLLNVAL" pollNval :: Word16

-- | The size of @struct pollfd@: a descriptor, and 2 bytes each of awaited and of found events.
entryBytes :: Int
entryBytes = 8

-- | Which of these events are there now?
look :: Fd -> Event -> IO Event
look fd events = do
  found <- newIORef mempty
  pollFor (IntMap.singleton (fromIntegral fd) events) (Timeout 0) (\_ one -> modifyIORef' found (<> one))
  common events <$> readIORef found

-- | Waits for events of these descriptors, and reports what is there.
pollFor :: IntMap.IntMap Event -> Timeout -> (Fd -> Event -> IO ()) -> IO ()
pollFor all' timeout report = do
  let n = IntMap.size all'
  allocaBytes (max 1 n * entryBytes) $ \entries -> do
    for_ (zip [0 ..] (IntMap.toList all')) $ \(i, (fd, events)) -> do
      let entry = entries `plusPtr` (i * entryBytes)
      poke (castPtr entry) (fromIntegral fd :: CInt)
      pokeByteOff entry 4 (toFlags events)
      pokeByteOff entry 6 (0 :: Word16)
    found <- wait entries n timeout
    when (found > 0) . for_ [0 .. n - 1] $ \i -> do
      let entry = entries `plusPtr` (i * entryBytes)
      flags <- peekByteOff entry 6
      when (flags /= 0) $ do
        fd <- peek (castPtr entry)
        report (Fd fd) (fromFlags flags)

wait :: Ptr Word8 -> Int -> Timeout -> IO CInt
wait entries n timeout = case timeout of
  Timeout 0 -> atOnce
  Timeout ms | rtsSupportsBoundThreads -> orNone (c_poll_wait entries count (fromIntegral ms))
  Forever | rtsSupportsBoundThreads -> orNone (c_poll_wait entries count (-1))
  Timeout ms -> do
    now <- getMonotonicTimeNSec
    lookUntil (Just (now + fromIntegral ms * 1000000)) 1
  Forever -> lookUntil Nothing 1
  where
    count = fromIntegral n
    atOnce = orNone (c_poll_look entries count 0)
    lookUntil end pause = do
      found <- atOnce
      now <- getMonotonicTimeNSec
      if found > 0 || maybe False (<= now) end
        then pure found
        else threadDelay (pause * 1000) >> lookUntil end (min 10 (pause * 2))

-- | How many descriptors have events. An interrupted call has found none.
orNone :: IO CInt -> IO CInt
orNone call = do
  n <- call
  if n >= 0
    then pure n
    else do
      errno <- getErrno
      if errno == eINTR then pure 0 else throwErrno "poll"

-- | An error, a hang-up, and a descriptor that is not open are events for either direction.
fromFlags :: Word16 -> Event
fromFlags flags = both <> one pollIn evtRead <> one pollOut evtWrite
  where
    both = one (pollErr .|. pollHup .|. pollNval) (evtRead <> evtWrite)
    one flag event = if flags .&. flag /= 0 then event else mempty

toFlags :: Event -> Word16
toFlags events = one evtRead pollIn .|. one evtWrite pollOut
  where
    one event flag = if events `contains` event then flag else 0
