{-# LANGUAGE GHCForeignImportPrim, MagicHash, UnboxedTuples, UnliftedFFITypes #-}

-- | What takes the place of the functions by which unmodified code enters @base@'s event manager. When a program
-- starts, a jump to each of these is written over the function of @base@ that it replaces (@rts/src/events/seam.rs@),
-- so each has exactly the type, after optimisation, of that function.
--
-- Events are the numbers of "GHC.Event": 1 to read, 2 to write. A wait ends with a status: 0 if the descriptor is
-- ready, 'closed' if it was closed, otherwise an error number of the system.
module IOManager
  ( threadDelay, threadWait, threadWaitSTM, registerDelay, closeFdWith
  , wregisterTimeout, unregisterTimeout, updateTimeout, timerManager
  , ensureRunning, ensureTimerManager, ensureEventManagers, capabilitiesChanged, getSystemEventManager
  ) where

import Control.Concurrent.MVar (MVar, modifyMVar_, newMVar)
import Control.Exception (finally, throwIO, uninterruptibleMask_)
import Foreign.C.Error (Errno (..), eBADF, errnoToIOError)
import Foreign.C.Types (CInt (..))
import GHC.Base
import GHC.Conc.Sync (STM (..), TVar, atomically, newTVarIO, readTVar, retry, throwSTM, writeTVar)
import GHC.Int (Int32 (..))
import GHC.IO (unsafePerformIO)
import GHC.IORef (IORef, newIORef, readIORef, writeIORef)
import System.Posix.Types (Fd (..))
import Unsafe.Coerce (unsafeCoerce)

type Result a = State# RealWorld -> (# State# RealWorld, a #)

foreign import prim "hec_delayzh" sleep# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_waitFdzh" waitFd# :: Int# -> Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_registerFdzh" registerFd#
  :: Int# -> Int# -> Any -> State# RealWorld -> (# State# RealWorld, Int#, Int# #)
foreign import prim "hec_registerTimeoutzh" registerTimeout#
  :: Int# -> Any -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_cancelzh" cancel# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_updateTimeoutzh" updateTimeout#
  :: Int# -> Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_beginClosezh" beginClose# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_endClosezh" endClose# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

-- Functions of base as they were before they were replaced.
foreign import prim "hec_original_closeFdWith" originalCloseFdWith# :: Any -> Any -> Result ()
foreign import prim "hec_original_ensureEventManagers" originalEnsureEventManagers# :: Any -> Result ()
foreign import prim "hec_original_capabilitiesChanged" originalCapabilitiesChanged# :: Result ()
foreign import prim "hec_original_getSystemEventManager" originalGetSystemEventManager# :: Result Any
foreign import prim "base_GHCziEventziTimerManager_new1_info" newTimerManager# :: Result Any

run :: State# RealWorld -> IO a -> (# State# RealWorld, a #)
run s action = unIO action s
{-# INLINE run #-}

any# :: a -> Any
any# = unsafeCoerce

closed :: Int
closed = -1

-- | Raises the exception for a wait that has failed.
failed :: String -> Int -> IO a
failed function status = throwIO (failure function status)

failure :: String -> Int -> IOError
failure function status
  | status == closed = errnoToIOError function eBADF Nothing Nothing
  | otherwise = errnoToIOError "modifyFdOnce" (errno status) Nothing Nothing
  where
    errno (I# n) = Errno (CInt (I32# n))

-- * Waits

threadDelay :: Int -> Result ()
threadDelay (I# us) s = case sleep# us s of (# s1, _ #) -> (# s1, () #)
{-# NOINLINE threadDelay #-}

threadWait :: Int -> Fd -> Result ()
threadWait (I# events) (Fd (CInt (I32# fd))) s = case waitFd# events fd s of
  (# s1, 0# #) -> (# s1, () #)
  (# s1, status #) -> unIO (failed "threadWait" (I# status)) s1
{-# NOINLINE threadWait #-}

threadWaitSTM :: Int -> Fd -> Result (STM (), IO ())
threadWaitSTM (I# events) (Fd (CInt (I32# fd))) s0 = run s0 (do
  state <- newTVarIO Nothing
  let answer status = atomically (writeTVar state (Just status)) :: IO ()
  key <- IO (\s -> case registerFd# events fd (any# answer) s of
    (# s1, key, 0# #) -> (# s1, I# key #)
    (# s1, _, status #) -> unIO (failed "threadWait" (I# status)) s1)
  return (await state, cancel key))
  where
    await :: TVar (Maybe Int) -> STM ()
    await state = readTVar state >>= \r -> case r of
      Nothing -> retry
      Just 0 -> return ()
      Just status -> throwSTM (failure "threadWaitSTM" status)
{-# NOINLINE threadWaitSTM #-}

cancel :: Int -> IO ()
cancel (I# key) = IO (\s -> case cancel# key s of (# s1, _ #) -> (# s1, () #))

-- * Timers

-- | Runs an action after a number of microseconds. At once, in this thread, if that is not positive.
after :: Int -> IO () -> IO Int
after us@(I# us#) action
  | us <= 0 = action >> return 0
  | otherwise = IO (\s -> case registerTimeout# us# (any# action) s of (# s1, key #) -> (# s1, I# key #))

registerDelay :: Int -> Result (TVar Bool)
registerDelay us s0 = run s0 (do
  over <- newTVarIO False
  _ <- after us (atomically (writeTVar over True))
  return over)
{-# NOINLINE registerDelay #-}

-- | The first four arguments are fields of the manager.
wregisterTimeout
  :: MutVar# RealWorld Any -> MutableByteArray# RealWorld -> Int# -> MutVar# RealWorld Bool -> Int# -> IO () -> Result Int
wregisterTimeout _ _ _ _ us action s0 = run s0 (after (I# us) action)
{-# NOINLINE wregisterTimeout #-}

unregisterTimeout :: Any -> Int -> Result ()
unregisterTimeout _ key s0 = run s0 (cancel key)
{-# NOINLINE unregisterTimeout #-}

updateTimeout :: Any -> Int -> Int -> Result ()
updateTimeout _ (I# key) (I# us) s = case updateTimeout# key us s of (# s1, _ #) -> (# s1, () #)
{-# NOINLINE updateTimeout #-}

-- | A timer manager without a thread. Only its fields are ever looked at.
timerManager :: IORef (Maybe Any)
timerManager = unsafePerformIO (IO newTimerManager# >>= newIORef . Just)
{-# NOINLINE timerManager #-}

-- * Closing

closeFdWith :: (Fd -> IO ()) -> Fd -> Result ()
closeFdWith close fd@(Fd (CInt (I32# n))) s0 = run s0 (uninterruptibleMask_ (do
  started <- readIORef baseManagersRun
  IO (\s -> case beginClose# n s of (# s1, _ #) -> (# s1, () #))
  (if started then IO (originalCloseFdWith# (any# close) (any# fd)) else close fd)
    `finally` IO (\s -> case endClose# n s of (# s1, _ #) -> (# s1, () #))))
{-# NOINLINE closeFdWith #-}

-- * The managers of base

-- | Do base's own event managers run?
baseManagersRun :: IORef Bool
baseManagersRun = unsafePerformIO (newIORef False)
{-# NOINLINE baseManagersRun #-}

starting :: MVar ()
starting = unsafePerformIO (newMVar ())
{-# NOINLINE starting #-}

ensureRunning :: Result ()
ensureRunning s = (# s, () #)
{-# NOINLINE ensureRunning #-}

ensureTimerManager :: Any -> Result Any
ensureTimerManager thread s = (# s, thread #)
{-# NOINLINE ensureTimerManager #-}

ensureEventManagers :: Any -> Result ()
ensureEventManagers unit s0 = run s0 (do
  started <- readIORef baseManagersRun
  if started then IO (originalEnsureEventManagers# unit) else return ())
{-# NOINLINE ensureEventManagers #-}

capabilitiesChanged :: Result ()
capabilitiesChanged s0 = run s0 (do
  started <- readIORef baseManagersRun
  if started then IO originalCapabilitiesChanged# else return ())
{-# NOINLINE capabilitiesChanged #-}

-- | Starts base's event managers at the first call.
getSystemEventManager :: Result Any
getSystemEventManager s0 = run s0 (do
  started <- readIORef baseManagersRun
  if started then return () else modifyMVar_ starting (\_ -> do
    again <- readIORef baseManagersRun
    if again then return () else do
      writeIORef baseManagersRun True
      IO (originalEnsureEventManagers# (any# ())))
  IO originalGetSystemEventManager#)
{-# NOINLINE getSystemEventManager #-}
