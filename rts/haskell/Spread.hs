{-# LANGUAGE BangPatterns, GHCForeignImportPrim, MagicHash, UnboxedTuples, UnliftedFFITypes #-}

-- | Threads that evaluate and perform for other processing elements (@rts/src/spread/readers.rs@, @calls.rs@),
-- operations on objects that are elsewhere (@remote_objects.rs@), and the exceptions that say why something is not
-- there.
--
-- The package's module @Hecaton.Cluster@ has types of its own for these exceptions, which it recognises by their names.
module Spread
  ( serve,
    perform,
    failed,
    notTransferable,
    peLost,
    cancelled,
    writeLines,
    partOf,
    takeMVarRemote,
    readMVarRemote,
    putMVarRemote,
    tryTakeMVarRemote,
    tryReadMVarRemote,
    tryPutMVarRemote,
    isEmptyMVarRemote,
    readTVarRemote,
    remoteTVar,
    throwToRemote,
    threadStatusRemote,
    deRefWeakRemote,
    finalizeWeakRemote,
  )
where

import Control.Exception
import Control.Monad (when)
import Foreign.C.String (CString)
import Foreign.C.Types (CInt (..))
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (Ptr, castPtr)
import Foreign.StablePtr
import Foreign.Storable (peek)
import GHC.Base hiding (when)
import GHC.Conc (PrimMVar, newStablePtrPrimMVar)
import GHC.Foreign (peekCString, withCString)
import GHC.IO (unsafeUnmask)
import GHC.IO.Encoding (utf8)
import GHC.MVar (MVar, newEmptyMVar, takeMVar)
import System.IO (BufferMode (LineBuffering), hSetBuffering, stdout)
import System.IO.Unsafe (unsafeDupablePerformIO)
import Unsafe.Coerce (unsafeCoerce, unsafeCoerce#)

type State = State# RealWorld

-- | A value may not leave its processing element, because of what this names.
newtype NotTransferable = NotTransferable String

instance Show NotTransferable where
  show (NotTransferable what) = "not transferable: " ++ what

instance Exception NotTransferable

-- | What was needed was at a processing element that has been lost.
data PELost = PELost

instance Show PELost where
  show PELost = "a processing element was lost"

instance Exception PELost

-- | A transaction has used a variable of another processing element.
data RemoteTVar = RemoteTVar

instance Show RemoteTVar where
  show RemoteTVar = "a transaction uses a TVar of another processing element"

instance Exception RemoteTVar

foreign import ccall unsafe "hec_served" c_served :: Word -> CInt -> CString -> IO ()

foreign import ccall unsafe "hec_call_ended" c_ended :: Word -> StablePtr (Either SomeException Any) -> IO ()

foreign import ccall unsafe "hec_call" c_call ::
  CInt -> StablePtr (IO a) -> StablePtr PrimMVar -> Ptr CString -> IO Word

foreign import ccall unsafe "hec_begin_wait" c_beginWait :: Word -> IO ()

foreign import ccall unsafe "hec_end_wait" c_endWait :: IO ()

foreign import prim "hec_partzh" part# :: Any -> Int# -> Any -> (# Any #)

foreign import prim "hec_ownerzh" owner# :: Any -> State -> (# State, Int# #)

-- | Evaluates an object, and has the runtime answer those that wait for it. If an exception is raised by the object, it
-- is its value. One that comes from elsewhere is told with a number, which @hec_served@ knows. Called with exceptions
-- masked, so that an exception for the evaluation comes to no other place.
serve :: Any -> Word -> IO ()
serve object address = do
  met <- try (unsafeUnmask (evaluate object))
  case met of
    Right _ -> served 0 ""
    Left e
      | Just StackOverflow <- fromException e -> served 1 ""
      | Just HeapOverflow <- fromException e -> served 2 ""
      | Just (NotTransferable what) <- fromException e -> served 3 what
      | otherwise -> served 4 ""
  where
    served number what = withCString utf8 what (c_served address number)

-- | Performs an action, and has the runtime send the result. Called with exceptions masked. So an exception interrupts
-- an operation that waits, but what it has done is not lost. @Hecaton.Cluster@ sends actions that unmask exceptions.
perform :: IO Any -> Word -> IO ()
perform action name = do
  result <- try action
  pointer <- newStablePtr result
  c_ended name pointer
  freeStablePtr pointer

-- | The result of an action that has failed.
failed :: SomeException -> Either SomeException Any
failed = Left

notTransferable :: Ptr a -> SomeException
notTransferable text = toException (NotTransferable (unsafeDupablePerformIO (peekCString utf8 (castPtr text))))

peLost :: SomeException
peLost = toException PELost

remoteTVar :: SomeException
remoteTVar = toException RemoteTVar

-- | What an action gets whose result is not wanted any more.
cancelled :: SomeException
cancelled = toException ThreadKilled

-- | Has each line of standard output be written when it ends, in one piece. The launcher reads the outputs of all
-- processing elements in turn.
writeLines :: IO ()
writeLines = hSetBuffering stdout LineBuffering

-- | The part of a value that a way leads to: pairs of a word's number and how often that word is read. Where the number
-- is odd, the word is that of an unevaluated thunk; otherwise a value's (@rts/src/spread/parts.rs@).
partOf :: Any -> ByteArray# -> Any
partOf value way = go value 0#
  where
    end = sizeofByteArray# way `quotInt#` 8#
    go v i
      | isTrue# (i >=# end) = v
      | otherwise = steps v i (indexIntArray# way (i +# 1#))
    steps v i 0# = go v (i +# 2#)
    steps v i n = case step v (indexIntArray# way i) of (# next #) -> steps next i (n -# 1#)
    step v code
      | isTrue# (andI# code 1#) = part# v (uncheckedIShiftRL# code 1#) lost
      | otherwise = case v of !evaluated -> part# evaluated (uncheckedIShiftRL# code 1#) lost
    lost = unsafeCoerce (throw PELost :: ())
{-# NOINLINE partOf #-}

-- | Has the owner of a remote object perform an operation on it, and waits for that. The wait is interruptible, as
-- those of local operations are: an exception cancels the operation, and is raised when the owner says that it has
-- been. If it says that the operation was done before, its result is returned, and the exception waits on, as for a
-- thread that has just been woken. So nothing is lost, and what happens after the exception was raised finds nothing
-- under way.
onOwner :: Any -> IO a -> IO a
onOwner object action = do
  masking <- getMaskingState
  let isInterruptible = masking /= MaskedUninterruptible
  answer <- uninterruptibleMask_ $ do
    place <- IO (\s -> case owner# object s of (# s1, n #) -> (# s1, I# n #))
    result <- newEmptyMVar
    call <- begin place action result
    when isInterruptible (c_beginWait call)
    answer <- takeMVar result
    when isInterruptible c_endWait
    pure answer
  case answer of
    Right value -> pure value
    Left e
      | isInterruptible, Just ThreadKilled <- fromException e -> do
          -- Cancelled: here the exception is raised. If whoever threw it has withdrawn it, the operation begins anew.
          allowInterrupt
          onOwner object action
      | otherwise -> throwIO (e :: SomeException)

begin :: Int -> IO a -> MVar (Either SomeException a) -> IO Word
begin place action result = do
  actionPointer <- newStablePtr action
  resultPointer <- newStablePtrPrimMVar (unsafeCoerce result)
  call <- alloca $ \why -> do
    call <- c_call (fromIntegral place) actionPointer resultPointer why
    if call /= 0 then pure call else peek why >>= peekCString utf8 >>= throwIO . NotTransferable
  freeStablePtr actionPointer
  pure call

data Maybe1 = None | Some Any

-- | Performs an operation of a remote object with one result.
one :: Any -> (State -> (# State, Any #)) -> State -> (# State, Any #)
one object operation = unIO (onOwner object (IO operation))

takeMVarRemote, readMVarRemote :: MVar# RealWorld Any -> State -> (# State, Any #)
takeMVarRemote m = one (unsafeCoerce# m) (takeMVar# m)
readMVarRemote m = one (unsafeCoerce# m) (readMVar# m)
{-# NOINLINE takeMVarRemote #-}
{-# NOINLINE readMVarRemote #-}

putMVarRemote :: MVar# RealWorld Any -> Any -> State -> State
putMVarRemote m value s =
  case unIO (onOwner (unsafeCoerce# m) (IO (\s1 -> (# putMVar# m value s1, () #)))) s of (# s2, () #) -> s2
{-# NOINLINE putMVarRemote #-}

-- | Performs an operation with a flag and perhaps a result.
perhaps :: Any -> (State -> (# State, Int#, Any #)) -> State -> (# State, Int#, Any #)
perhaps object operation s = case unIO (onOwner object (IO boxed)) s of
  (# s1, None #) -> (# s1, 0#, unsafeCoerce# () #)
  (# s1, Some value #) -> (# s1, 1#, value #)
  where
    boxed s1 = case operation s1 of
      (# s2, 0#, _ #) -> (# s2, None #)
      (# s2, _, value #) -> (# s2, Some value #)

tryTakeMVarRemote, tryReadMVarRemote :: MVar# RealWorld Any -> State -> (# State, Int#, Any #)
tryTakeMVarRemote m s = perhaps (unsafeCoerce# m) (tryTakeMVar# m) s
tryReadMVarRemote m s = perhaps (unsafeCoerce# m) (tryReadMVar# m) s
{-# NOINLINE tryTakeMVarRemote #-}
{-# NOINLINE tryReadMVarRemote #-}

-- | Performs an operation whose result is a flag.
flag :: Any -> (State -> (# State, Int# #)) -> State -> (# State, Int# #)
flag object operation s = case unIO (onOwner object (IO boxed)) s of (# s1, I# n #) -> (# s1, n #)
  where
    boxed s1 = case operation s1 of (# s2, n #) -> (# s2, I# n #)

tryPutMVarRemote :: MVar# RealWorld Any -> Any -> State -> (# State, Int# #)
tryPutMVarRemote m value s = flag (unsafeCoerce# m) (tryPutMVar# m value) s
{-# NOINLINE tryPutMVarRemote #-}

isEmptyMVarRemote :: MVar# RealWorld Any -> State -> (# State, Int# #)
isEmptyMVarRemote m s = flag (unsafeCoerce# m) (isEmptyMVar# m) s
{-# NOINLINE isEmptyMVarRemote #-}

readTVarRemote :: TVar# RealWorld Any -> State -> (# State, Any #)
readTVarRemote v = one (unsafeCoerce# v) (readTVarIO# v)
{-# NOINLINE readTVarRemote #-}

throwToRemote :: ThreadId# -> Any -> State -> State
throwToRemote t exception s =
  case unIO (onOwner (unsafeCoerce# t) (IO (\s1 -> (# killThread# t exception s1, () #)))) s of (# s2, () #) -> s2
{-# NOINLINE throwToRemote #-}

data Status = Status Int# Int# Int#

threadStatusRemote :: ThreadId# -> State -> (# State, Int#, Int#, Int# #)
threadStatusRemote t s = case unIO (onOwner (unsafeCoerce# t) (IO boxed)) s of
  (# s1, Status status hec locked #) -> (# s1, status, hec, locked #)
  where
    boxed s1 = case threadStatus# t s1 of (# s2, status, hec, locked #) -> (# s2, Status status hec locked #)
{-# NOINLINE threadStatusRemote #-}

deRefWeakRemote :: Weak# Any -> State -> (# State, Int#, Any #)
deRefWeakRemote w s = perhaps (unsafeCoerce# w) (deRefWeak# w) s
{-# NOINLINE deRefWeakRemote #-}

-- | The owner runs the finalizer, so there is none to run here.
finalizeWeakRemote :: Weak# Any -> State -> (# State, Int#, Any #)
finalizeWeakRemote w s = case unIO (onOwner (unsafeCoerce# w) (IO finalize)) s of
  (# s1, () #) -> (# s1, 0#, unsafeCoerce# () #)
  where
    finalize s1 = case finalizeWeak# w s1 of
      (# s2, 0#, _ #) -> (# s2, () #)
      (# s2, _, finalizer #) -> case finalizer s2 of (# s3, _ #) -> (# s3, () #)
{-# NOINLINE finalizeWeakRemote #-}
