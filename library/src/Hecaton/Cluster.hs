{-# LANGUAGE CApiFFI #-}

-- | One program over many processing elements (PEs): processes, each with its own heap. @hecaton spread -n 4 PROGRAM@
-- starts a program so. PE 0 runs @main@. Sparks (@par@, strategies) go to PEs without work by themselves, and data is
-- fetched when it is needed; this module is for programs that say where something is to happen.
--
-- A program that runs by itself, on whatever runtime, is PE 0 of one.
--
-- What travels: any value that code only reads, and @MVar@s and threads, on which the PE that has them performs the
-- operations. An @IORef@ or a mutable array stays at its PE, and so does a value that holds one: elsewhere, forcing it
-- raises 'NotTransferable'.
module Hecaton.Cluster
  ( -- * Processing elements
    PE (..),
    myPE,
    numPEs,

    -- * Evaluation elsewhere
    on,

    -- * IO elsewhere
    remoteOn,
    Future,
    await,
    poll,
    cancel,

    -- * Memory
    performGlobalGC,

    -- * Exceptions
    NotTransferable (..),
    PELost (..),
  )
where

import Control.Concurrent (forkIOWithUnmask, killThread)
import Control.Concurrent.MVar
import Control.Exception
import Control.Monad (unless, void)
import Data.Typeable (cast, tyConModule, tyConName, typeOf, typeRepTyCon)
import Foreign.C.String (CString, peekCString)
import Foreign.C.Types (CInt (..), CULong (..))
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (Ptr)
import Foreign.StablePtr
import Foreign.Storable (peek)
import GHC.Conc (PrimMVar, newStablePtrPrimMVar)
import GHC.IO (unsafeUnmask)
import System.IO.Unsafe (unsafeDupablePerformIO)
import Unsafe.Coerce (unsafeCoerce)

-- | A processing element, by its number: 0 to 'numPEs' - 1.
newtype PE = PE Int
  deriving (Eq, Ord, Show, Read)

foreign import capi unsafe "hecaton_runtime.h hecaton_own_pe" c_ownPE :: IO CInt

foreign import capi unsafe "hecaton_runtime.h hecaton_pe_count" c_peCount :: IO CInt

foreign import capi unsafe "hecaton_runtime.h hecaton_call" c_call ::
  CInt -> StablePtr (IO a) -> StablePtr PrimMVar -> Ptr CString -> IO CULong

foreign import capi unsafe "hecaton_runtime.h hecaton_cancel_call" c_cancel :: CULong -> IO ()

foreign import capi unsafe "hecaton_runtime.h hecaton_place" c_place :: CInt -> StablePtr a -> IO ()

foreign import capi safe "hecaton_runtime.h hecaton_perform_global_gc" c_performGlobalGC :: IO ()

-- | The PE on which the calling thread runs.
myPE :: IO PE
myPE = PE . fromIntegral <$> c_ownPE

-- | How many PEs take part in this run.
numPEs :: IO Int
numPEs = fromIntegral <$> c_peCount

-- | What does not exist is an error of the caller.
existing :: String -> PE -> IO ()
existing name (PE pe) = do
  count <- numPEs
  unless (0 <= pe && pe < count) $
    throwIO (userError (name ++ ": PE " ++ show pe ++ " of " ++ show count))

-- | The value, evaluated by that PE to weak head normal form. The evaluation begins when the result is needed; to have
-- several PEs at work at once, spark the results (@par@). What may not travel, or is under evaluation already, is
-- evaluated by the calling PE.
on :: PE -> a -> a
on pe@(PE number) value = unsafeDupablePerformIO $ do
  existing "Hecaton.Cluster.on" pe
  me <- myPE
  unless (me == pe) $ do
    pointer <- newStablePtr value
    c_place (fromIntegral number) pointer
    freeStablePtr pointer
  evaluate value
{-# NOINLINE on #-}

-- | The result of an action that another PE performs.
data Future a = Future (IO ()) (MVar (Either SomeException a))

-- | Has a PE perform an action, in a thread of its own with exceptions unmasked, and does not wait for it. If the
-- action refers to what may not travel, 'NotTransferable' is raised.
remoteOn :: PE -> IO a -> IO (Future a)
remoteOn pe@(PE number) action = do
  existing "Hecaton.Cluster.remoteOn" pe
  result <- newEmptyMVar
  me <- myPE
  _ <- evaluate action
  if me == pe
    then do
      thread <- mask_ (forkIOWithUnmask (\unmask -> try (unmask action) >>= putMVar result))
      pure (Future (killThread thread) result)
    else mask_ $ do
      actionPointer <- newStablePtr (unsafeUnmask action)
      resultPointer <- newStablePtrPrimMVar (unsafeCoerce result)
      call <- alloca $ \why -> do
        call <- c_call (fromIntegral number) actionPointer resultPointer why
        freeStablePtr actionPointer
        if call /= 0
          then pure call
          else do
            freeStablePtr resultPointer
            peek why >>= peekCString >>= throwIO . NotTransferable
      pure (Future (c_cancel call) result)

-- | Waits for the result. An exception of the action is raised here.
await :: Future a -> IO a
await (Future _ result) = readMVar result >>= either throwIO pure

-- | The result, if it is there.
poll :: Future a -> IO (Maybe (Either SomeException a))
poll (Future _ result) = tryReadMVar result

-- | Throws @ThreadKilled@ to the thread that performs the action, and waits until that has ended.
cancel :: Future a -> IO ()
cancel (Future kill result) = kill >> void (readMVar result)

-- | Collects the garbage of all PEs, at the same time. Only this finds cycles of references that go over several PEs.
-- It is done by itself when others hold much of what a PE has. With one PE it is @System.Mem.performMajorGC@.
performGlobalGC :: IO ()
performGlobalGC = c_performGlobalGC

-- | A value or an action may not leave its PE, because it holds what this names.
newtype NotTransferable = NotTransferable String

instance Show NotTransferable where
  show (NotTransferable what) = "not transferable: " ++ what

instance Exception NotTransferable where
  fromException = fromRuntime "NotTransferable"

-- | What was needed was at a PE that has been lost.
data PELost = PELost

instance Show PELost where
  show PELost = "a processing element was lost"

instance Exception PELost where
  fromException = fromRuntime "PELost"

-- | An exception of this module, or the runtime's own of that name (@rts\/haskell\/Spread.hs@), which looks the same.
fromRuntime :: Exception e => String -> SomeException -> Maybe e
fromRuntime name (SomeException e)
  | Just own <- cast e = Just own
  | tyConModule con == "Spread" && tyConName con == name = Just (unsafeCoerce e)
  | otherwise = Nothing
  where
    con = typeRepTyCon (typeOf e)
