{-# LANGUAGE CApiFFI #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- | What Hecaton's runtime offers to schedulers. On another runtime each function raises an exception.
module Hecaton.Substrate.Runtime
  ( Runtime (..),
    runtime,
    State,
    Group (..),
    SubstrateException (..),
  )
where

import Control.Exception (Exception (..), SomeException, throw)
import Foreign.Ptr (nullPtr)
import GHC.Exts
import System.IO.Unsafe (unsafePerformIO)
import Unsafe.Coerce (unsafeCoerce)

-- | Why an operation is not possible.
data SubstrateException
  = -- | The program does not run on Hecaton, which alone has the substrate.
    NotOnHecaton
  | -- | All HECs are in use.
    NoIdleHEC
  | -- | The SCont is not passive: its thread runs, or waits in the runtime. 'Hecaton.Substrate.runOnIdleHEC' raises it
    -- for a stale one, too.
    SContRunning
  | -- | Another thread of a scheduler uses the HEC of the running thread, which belongs to the built-in scheduler.
    HecInUse
  deriving (Eq, Show)

instance Exception SubstrateException where
  displayException NotOnHecaton = "Hecaton.Substrate needs Hecaton's runtime"
  displayException NoIdleHEC = "no HEC is idle"
  displayException SContRunning = "the SCont is running"
  displayException HecInUse = "the HEC is in use"

type State = State# RealWorld

-- | A scheduler as the runtime knows it. 0 is none.
newtype Group = Group Word
  deriving (Eq)

-- | Functions of the runtime. A thread of an SCont goes without its number where that does not matter. An aux field is
-- given with the first value that it has if the running thread has none yet.
data Runtime = Runtime
  { -- | The running thread and its number.
    ownSCont# :: Any -> State -> (# State, ThreadId#, Word# #),
    newSCont# :: Any -> Any -> State -> (# State, ThreadId# #),
    -- | Runs a transaction that returns an evaluated SCont.
    switch# :: Any -> State -> (# State, () #),
    -- | The dequeue activation (0) or the enqueue activation (1), and whether there is one.
    activation# :: Int# -> ThreadId# -> State -> (# State, Int#, Any #),
    -- | Not done (0), because another thread uses the HEC?
    setActivation# :: Int# -> Any -> Any -> State -> (# State, Int# #),
    -- | In a transaction: the number of the thread's current SCont.
    scontNumber# :: ThreadId# -> State -> (# State, Word# #),
    -- | In a transaction: is an SCont that of another thread which is not passive? With the largest number: is the
    -- thread another one that is not passive, and the running one no upcall thread?
    runsElsewhere# :: ThreadId# -> Word# -> State -> (# State, Int# #),
    -- | In a transaction: the SCont is given to its scheduler (1), unless it is stale (0) or not passive (2).
    give# :: ThreadId# -> Word# -> State -> (# State, Int# #),
    aux# :: ThreadId# -> State -> (# State, TVar# RealWorld Any #),
    runTime# :: ThreadId# -> State -> (# State, Word# #),
    currentHec# :: State -> (# State, Int# #),
    -- | The SCont runs (1), unless it is not passive (2) or all HECs are used (3).
    runOnIdleHec# :: ThreadId# -> Word# -> State -> (# State, Int# #),
    -- | In a switch: may the running thread choose another SCont (1)?
    maySwitchTo# :: State -> (# State, Int# #),
    -- | In a transaction: its commit ends the time slice of a HEC.
    preemptHec# :: Int# -> State -> (# State, Int# #),
    -- | As 'newSCont#', with activations and a group.
    newMember# :: Any -> Any -> Any -> Any -> Word# -> State -> (# State, ThreadId# #),
    -- | The activations of the running thread after its next switch: an evaluated pair (2) with its group, none
    -- (1), no others (0).
    setNextActivations# :: Int# -> Any -> Any -> Word# -> State -> (# State, Int# #),
    -- | Makes a thread in the queue with this number, or in the built-in one (0), with this key.
    forkInQueue# :: Int# -> Int# -> Any -> State -> (# State, ThreadId# #),
    -- | The running thread joins a queue, or the built-in one (0).
    joinQueue# :: Int# -> Int# -> State -> (# State, Int# #),
    -- | The queue of the running thread and its key.
    ownQueue# :: State -> (# State, Int#, Int# #),
    -- | Makes a queue with an order (as 'Hecaton.RunQueue.Order' numbers them) and a seed. The result is 0 if there are
    -- too many.
    newQueue# :: Int# -> Word# -> State -> (# State, Int# #),
    -- | Makes a group with a name (bytes and their number), a parent or 0, and a promise: nanoseconds of CPU time,
    -- bytes of allocation, seconds of rest.
    newGroup# :: Addr# -> Int# -> Word# -> Word# -> Word# -> Word# -> State -> (# State, Word# #),
    -- | In an activation: what follows is done on behalf of the group. Is that ejected (0)?
    onBehalf# :: Word# -> State -> (# State, Int# #),
    ejected# :: Word# -> State -> (# State, Int# #),
    -- | The running thread belongs to the group, if that is not ejected.
    setGroup# :: Word# -> Any -> State -> (# State, Int# #),
    -- | Ejects the group, in whose dequeue activation an exception was raised.
    failed# :: Word# -> SomeException -> State -> (# State, () #),
    -- | In a transaction: does the thread of an SCont wait for a thunk that a thread with SConts evaluates (1)? That
    -- thread, and its number.
    awaits# :: ThreadId# -> Word# -> State -> (# State, Int#, ThreadId#, Word# #)
  }

foreign import capi unsafe "hecaton_runtime.h hecaton_substrate" c_functions :: IO (Ptr ())

-- | Those of this program's runtime.
runtime :: Runtime
runtime = unsafePerformIO $ do
  functions <- c_functions
  pure (if functions == nullPtr then throw NotOnHecaton else fromTuple functions)
{-# NOINLINE runtime #-}

-- The runtime's module @Substrate@ has a tuple of this type.
fromTuple :: Ptr () -> Runtime
fromTuple (Ptr address) = case addrToAny# address of
  (# tuple #) -> case unsafeCoerce tuple of
    ( own, new, sw, act, set, number, runs, give, aux, time, current, onIdle, may, preempt, member, next, fork, join
      , queue, newQ, group, behalf, gone, setG, fails, waits ) ->
      Runtime own new sw act set number runs give aux time current onIdle may preempt member next fork join queue newQ
        group behalf gone setG fails waits
