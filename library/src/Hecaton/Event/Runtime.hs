{-# LANGUAGE CApiFFI #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- | What Hecaton's runtime offers beyond what every runtime has. Programs of this package run on others, too.
module Hecaton.Event.Runtime
  ( Runtime (..),
    runtime,
  )
where

import Foreign.Ptr (nullPtr)
import GHC.Exts (addrToAny#)
import GHC.Ptr (Ptr (..))
import System.IO.Unsafe (unsafePerformIO)
import System.Posix.Types (Fd)
import Unsafe.Coerce (unsafeCoerce)

-- | Functions of the runtime.
data Runtime = Runtime
  { -- | Waits for events (1: read, 2: write), for a number of microseconds at most if that is not negative. Returns
    -- those that are there, or 0 after that time.
    waitEvents :: Int -> Fd -> Int -> IO Int,
    -- | Runs an action in a thread of its own after a number of microseconds. Returns the timer's key.
    startTimer :: Int -> IO () -> IO Int,
    cancelTimer :: Int -> IO ()
  }

foreign import capi unsafe "hecaton_runtime.h hecaton_functions" c_functions :: IO (Ptr ())

-- | Those of this program's runtime, if it is Hecaton's and the program uses its event manager.
runtime :: Maybe Runtime
runtime = unsafePerformIO $ do
  functions <- c_functions
  pure (if functions == nullPtr then Nothing else Just (fromTuple functions))
{-# NOINLINE runtime #-}

-- The runtime's module @IOManager@ has a tuple of this type.
fromTuple :: Ptr () -> Runtime
fromTuple (Ptr address) = case addrToAny# address of
  (# tuple #) -> case unsafeCoerce tuple of
    (wait, timer, cancel) -> Runtime {waitEvents = wait, startTimer = timer, cancelTimer = cancel}
