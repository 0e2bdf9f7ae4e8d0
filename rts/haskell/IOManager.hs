{-# LANGUAGE FlexibleContexts, GHCForeignImportPrim, MagicHash, RankNTypes, UnboxedTuples, UnliftedFFITypes #-}

-- | What takes the place of the functions by which unmodified code enters @base@'s event manager. When a program
-- starts, a jump to each of these is written over the function of @base@ that it replaces (@rts/src/events/seam.rs@),
-- so each has exactly the type, after optimisation, of that function.
--
-- Events are the numbers of "GHC.Event": 1 to read, 2 to write. A wait ends with a status: 0 if the descriptor is
-- ready, 'closed' if it was closed, 'timedOut' if its time is over, 'partly' minus the events if only one of two is
-- there, otherwise an error number of the system.
module IOManager
  ( threadDelay, threadWait, threadWaitSTM, registerDelay, timeout, closeFdWith
  , usedTimerManager, start, afterFork
  , ensureRunning, ensureTimerManager, ensureEventManagers, capabilitiesChanged, getSystemEventManager
  , forLibrary
  ) where

import Control.Concurrent.MVar (MVar, modifyMVar_, newEmptyMVar, newMVar, takeMVar, tryPutMVar)
import Control.Exception
  ( Exception (..), SomeException, catch, finally, mask, mask_, throwIO, throwTo, uninterruptibleMask_ )
import Foreign.Marshal.Alloc (alloca)
import Foreign.C.Error (Errno (..), eBADF, errnoToIOError)
import Foreign.C.Types (CInt (..), CSize (..))
import GHC.Base
import GHC.Conc.Sync
  ( STM (..), TVar, atomically, forkIO, killThread, myThreadId, newTVarIO, readTVar, retry, throwSTM, writeTVar )
import GHC.Int (Int32 (..))
import GHC.Num.Integer (Integer (..))
import GHC.IO (unsafePerformIO)
import GHC.IORef (IORef, newIORef, readIORef, writeIORef)
import GHC.Ptr (Ptr (..))
import GHC.Word (Word64 (..))
import System.Posix.Types (CSsize (..), Fd (..))
import Unsafe.Coerce (unsafeCoerce)

type Result a = State# RealWorld -> (# State# RealWorld, a #)

foreign import prim "hec_delayzh" sleep# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_waitFdzh" waitFd# :: Int# -> Int# -> Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_registerFdzh" registerFd#
  :: Int# -> Int# -> Any -> State# RealWorld -> (# State# RealWorld, Int#, Int# #)
foreign import prim "hec_registerTimeoutzh" registerTimeout#
  :: Int# -> Any -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_cancelzh" cancel# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_beginClosezh" beginClose# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)
foreign import prim "hec_endClosezh" endClose# :: Int# -> State# RealWorld -> (# State# RealWorld, Int# #)

-- Functions of base as they were before they were replaced.
foreign import prim "hec_original_closeFdWith" originalCloseFdWith# :: Any -> Any -> Result ()
foreign import prim "hec_original_ensureEventManagers" originalEnsureEventManagers# :: Any -> Result ()
foreign import prim "hec_original_capabilitiesChanged" originalCapabilitiesChanged# :: Result ()
foreign import prim "hec_original_getSystemEventManager" originalGetSystemEventManager# :: Result Any

run :: State# RealWorld -> IO a -> (# State# RealWorld, a #)
run s action = unIO action s
{-# INLINE run #-}

any# :: a -> Any
any# = unsafeCoerce

closed, timedOut, partly :: Int
closed = -1
timedOut = -3
partly = -4

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
threadWait (I# events) (Fd (CInt (I32# fd))) s = case waitFd# events fd -1# s of
  (# s1, 0# #) -> (# s1, () #)
  (# s1, status #) -> unIO (failed "threadWait" (I# status)) s1
{-# NOINLINE threadWait #-}

-- | Waits for events, for a number of microseconds at most if that is not negative. Returns those that are there, or 0
-- after that time.
waitEvents :: Int -> Fd -> Int -> IO Int
waitEvents events@(I# events#) (Fd (CInt (I32# fd))) (I# us) =
  IO (\s -> case waitFd# events# fd us s of (# s1, status #) -> unIO (found (I# status)) s1)
  where
    found status
      | status == 0 = return events
      | status == timedOut = return 0
      | status < partly = return (partly - status)
      | otherwise = failed "threadWait" status

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
cancel key = cancelled key >> return ()

-- | Was it pending?
cancelled :: Int -> IO Bool
cancelled (I# key) = IO (\s -> case cancel# key s of (# s1, n #) -> (# s1, isTrue# n #))

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

-- * Time limits

-- | The worker of base's @timeout@.
timeout :: Int# -> IO a -> Result (Maybe a)
timeout us action s
  | isTrue# (us <# 0#) = run s (Just <$> action)
  | isTrue# (us ==# 0#) = (# s, Nothing #)
  | otherwise = run s (limited (I# us) action)
{-# NOINLINE timeout #-}

-- | Runs an action for a number of microseconds at most. If the time is over, the thread of the timer throws. The end
-- of the action cancels the timer; if its thread runs already, one of the two is the first to fill @first@. If it is
-- the timer's thread, that is killed, so that nothing is thrown after the end.
limited :: Int -> IO a -> IO (Maybe a)
limited us action = mask (\restore -> do
  thread <- myThreadId
  limit <- newLimit
  first <- newEmptyMVar
  timer <- after us (do
    thrower <- myThreadId
    isFirst <- tryPutMVar first thrower
    if isFirst then throwTo thread (exceeded limit) else return ())
  let end = uninterruptibleMask_ (do
        pending <- cancelled timer
        isFirst <- if pending then return True else tryPutMVar first thread
        if isFirst then return () else takeMVar first >>= killThread)
  result <- (Just <$> restore action) `catch` \e -> do
    end
    if isExceeded limit e then return Nothing else throwIO e
  end
  return result)

-- | Base's @Timeout@, a newtype of an integer. Its dictionary comes with the program's copy of @System.Timeout@.
newtype Limit = Limit Integer

foreign import ccall "&hec_timeout_exceptions" dictionaryOfLimit :: Ptr Any

newtype WithException a = WithException (Exception Limit => a)

withException :: (Exception Limit => a) -> a
withException f = case dictionaryOfLimit of
  Ptr p -> case addrToAny# (indexAddrOffAddr# p 0#) of
    (# dictionary #) -> unsafeCoerce (WithException f) dictionary

exceeded :: Limit -> SomeException
exceeded limit = withException (toException limit)

isExceeded :: Limit -> SomeException -> Bool
isExceeded (Limit n) e = withException (case fromException e of
  Just (Limit m) -> m == n
  Nothing -> False)

data Counter = Counter (MutableByteArray# RealWorld)

limits :: Counter
limits = unsafePerformIO (IO (\s -> case newByteArray# 8# s of
  (# s1, n #) -> (# writeIntArray# n 0# 0# s1, Counter n #)))
{-# NOINLINE limits #-}

newLimit :: IO Limit
newLimit = case limits of
  Counter n -> IO (\s -> case fetchAddIntArray# n 0# 1# s of (# s1, i #) -> (# s1, Limit (IS i) #))

-- * The timer manager of base
--
-- Code that uses its functions has some of them inlined: it edits the manager's queue, and writes to a descriptor of
-- the manager if the first deadline has changed. So the manager is a genuine one, without a thread. When it is first
-- used, its descriptor is registered with the runtime, and from then on a timer of the runtime is set for the first
-- deadline.

-- | The fields of a @TimerManager@: back end, queue, state, source of keys, and three descriptors and two flags for
-- control. The third descriptor is the one that is written to.
data Manager
  = Manager Any (MutVar# RealWorld Any) (MutVar# RealWorld Any) (MutableByteArray# RealWorld) Int# Int# Int# Any
      (MutVar# RealWorld Any)

-- | An element of the queue: key, deadline, and action.
data Element = Element Int# Word# (IO ())

foreign import prim "base_GHCziEventziTimerManager_new1_info" newManager# :: Result Any
foreign import prim "hec_psq_atMost" atMost# :: Any -> Any -> (# Any #)
foreign import prim "hec_psq_findMin" findMin# :: Any -> (# Any #)
foreign import ccall unsafe "getMonotonicNSec" monotonicNSec :: IO Word64
foreign import ccall unsafe "read" c_read :: CInt -> Ptr Word64 -> CSize -> IO CSsize

-- | The manager. Programs get it by 'usedTimerManager'.
timerManager :: IORef (Maybe Any)
timerManager = unsafePerformIO (IO newManager# >>= newIORef . Just)
{-# NOINLINE timerManager #-}

-- | What takes the place of base's @timerManager@: the same, with its edits watched.
usedTimerManager :: IORef (Maybe Any)
usedTimerManager = unsafePerformIO (do
  writeIORef timerManagerIsUsed True
  serveTimerManager
  return timerManager)
{-# NOINLINE usedTimerManager #-}

timerManagerIsUsed :: IORef Bool
timerManagerIsUsed = unsafePerformIO (newIORef False)
{-# NOINLINE timerManagerIsUsed #-}

serveTimerManager :: IO ()
serveTimerManager = do
  next <- newIORef Nothing
  readIORef timerManager >>= mapM_ (watchEdits next . unsafeCoerce)

-- | The first deadline for which a timer is set, and the timer's key.
type Next = IORef (Maybe (Word64, Int))

watchEdits :: Next -> Manager -> IO ()
watchEdits next manager@(Manager _ _ _ _ _ _ fd _ _) =
  IO (\s -> case registerFd# 1# fd (any# edited) s of (# s1, _, _ #) -> (# s1, () #))
  where
    edited :: Int -> IO ()
    edited _ = do
      _ <- alloca (\p -> c_read (CInt (I32# fd)) p 8)
      watchEdits next manager
      expire next manager

-- | Sets a timer for the next action, and runs those whose time has come. If one blocks, later ones still run.
expire :: Next -> Manager -> IO ()
expire next manager@(Manager _ queue _ _ _ _ _ _ _) = do
  W64# now <- monotonicNSec
  due <- IO (\s -> case atomicModifyMutVar2# queue (split (any# (W64# now))) s of
    (# s1, _, (_, elements) #) -> (# s1, elements #))
  rest <- IO (readMutVar# queue)
  case findMin# rest of
    (# first #) -> case unsafeCoerce first of
      Nothing -> return ()
      Just (Element _ deadline _) -> set (W64# deadline)
  mapM_ (\(Element _ _ action) -> action `catch` \e -> forkIO (throwIO (e :: SomeException)) >> return ()) due
  where
    split now q = case atMost# now q of (# parts #) -> swap (unsafeCoerce parts)
    swap :: ([Element], Any) -> (Any, [Element])
    swap (elements, left) = (left, elements)
    set deadline = do
      current <- readIORef next
      -- This is after that. A timer may fire before it is noted, and stays noted. Its time has come then.
      now <- monotonicNSec
      case current of
        -- That timer will look again. (Another thread may have set it, for an action that was added meanwhile.)
        Just (d, _) | now < d && d <= deadline -> return ()
        _ -> do
          mapM_ (cancel . snd) current
          let us = if deadline > now then fromIntegral ((deadline - now) `quot` 1000) + 1 else 1
          timer <- after us (writeIORef next Nothing >> expire next manager)
          writeIORef next (Just (deadline, timer))

-- | At the start of the program: makes the timer manager, while there are descriptors.
start :: IO ()
start = readIORef timerManager >>= \m -> case m of
  Just _ -> return ()
  Nothing -> return ()
{-# NOINLINE start #-}

-- | In the child of a fork: a timer manager of its own, and event managers if the program had any.
afterFork :: IO ()
afterFork = do
  IO newManager# >>= writeIORef timerManager . Just
  used <- readIORef timerManagerIsUsed
  if used then serveTimerManager else return ()
  started <- readIORef baseManagersRun
  if started then IO (originalEnsureEventManagers# (any# ())) else return ()
{-# NOINLINE afterFork #-}

-- * The package hecaton

-- | What its module @Hecaton.Event.Runtime@ looks for: a wait for events, a timer, and how to cancel that.
forLibrary :: (Int -> Fd -> Int -> IO Int, Int -> IO () -> IO Int, Int -> IO ())
forLibrary = (waitEvents, after, cancel)

-- * Closing

closeFdWith :: (Fd -> IO ()) -> Fd -> Result ()
closeFdWith close fd@(Fd (CInt (I32# n))) s0 = run s0 (mask_ (do
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
