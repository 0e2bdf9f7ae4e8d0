{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UnboxedTuples #-}

-- | The substrate of schedulers that are written in Haskell, after the paper by Sivaramakrishnan, Harris, Marlow and
-- Peyton Jones, /Composable Scheduler Activations for Haskell/ (2014). Names and types are the paper's.
--
-- A thread is seen as an 'SCont', a one-shot continuation. One that is /passive/ runs when a 'switch' chooses it. Each
-- thread has two /activations/: what to do so that its scheduler runs another thread in its place, and so that it is
-- run again. A round robin for one HEC:
--
-- > newScheduler = do
-- >   queue <- newTVarIO []
-- >   setDequeueAct $ \_ -> do
-- >     threads <- readTVar queue
-- >     case threads of
-- >       [] -> retry
-- >       first : rest -> writeTVar queue rest >> return first
-- >   setEnqueueAct $ \s -> modifyTVar queue (++ [s])
-- >
-- > fork action = newSCont (action >> switch dequeueAct) >>= atomically . enqueueAct
-- > yield = switch (\s -> enqueueAct s >> dequeueAct s)
--
-- This module needs Hecaton's runtime. On another one each function raises 'NotOnHecaton'.
module Hecaton.Substrate
  ( -- * Threads
    SCont,
    newSCont,
    switch,
    ownSCont,
    threadOf,
    isStale,
    awaits,

    -- * Activations
    DequeueAct,
    EnqueueAct,
    dequeueAct,
    enqueueAct,
    enqueueBy,
    setDequeueAct,
    setEnqueueAct,
    builtInDequeueAct,
    setGroup,
    Activations (..),
    newMember,
    setNextActivations,

    -- * State of an SCont
    getAux,
    setAux,
    runTime,

    -- * HECs
    getCurrentHEC,
    getNumHECs,
    runOnIdleHEC,
    preemptHEC,

    -- * Others
    clock,
    SubstrateException (..),
  )
where

import Control.Exception (throwIO)
import Control.Monad (unless)
import Data.Dynamic (Dynamic, toDyn)
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Conc (STM (..), ThreadId (..), getNumCapabilities, throwSTM, unsafeIOToSTM)
import GHC.Exts
import GHC.IO (IO (..), unIO)
import GHC.Word (Word64 (..))
import Hecaton.Substrate.Group (newGroup, usualPromise)
import Hecaton.Substrate.Runtime
import System.IO.Unsafe (unsafePerformIO)
import Unsafe.Coerce (unsafeCoerce, unsafeCoerceUnlifted)

-- | A continuation of a thread, which is used once: it becomes /stale/ when the thread runs. A 'switch' that chooses a
-- stale one has its effects, and then the dequeue activation of the thread that has switched makes another choice.
--
-- What refers to an SCont keeps its thread alive. A thread that has never run is dropped when nothing does.
data SCont = SCont ThreadId# Word#

instance Eq SCont where
  SCont t n == SCont u m = isTrue# (n `eqWord#` m) && isTrue# (t `isThread` u)

-- | Are they the same object?
isThread :: ThreadId# -> ThreadId# -> Int#
isThread t u = sameMutVar# (asVar t) (asVar u)
  where
    asVar :: ThreadId# -> MutVar# RealWorld Any
    asVar = unsafeCoerceUnlifted

instance Ord SCont where
  compare (SCont t n) (SCont u m) = compare (ThreadId t, W# n) (ThreadId u, W# m)

-- | The thread of an SCont. Its 'GHC.Conc.threadStatus' is running if it is passive and has been given to its scheduler
-- by 'enqueueAct', and blocked (@BlockedOnOther@) if it is passive and has not.
threadOf :: SCont -> ThreadId
threadOf (SCont t _) = ThreadId t

-- | Chooses the SCont that runs in the place of the given one.
type DequeueAct = SCont -> STM SCont

-- | Makes the SCont one that its scheduler will run.
type EnqueueAct = SCont -> STM ()

-- * Threads

-- | The first value of an aux field.
noAux :: Any
noAux = unsafeCoerce (toDyn ())
{-# NOINLINE noAux #-}

-- | The SCont of the running thread. It is this one until the thread switches, blocks, or has used its time slice.
ownSCont :: STM SCont
ownSCont = STM $ \s -> case ownSCont# runtime noAux s of (# s1, t, n #) -> (# s1, SCont t n #)

-- | Makes a passive thread for an action. It has the activations of the running thread.
newSCont :: IO () -> IO SCont
newSCont action = IO $ \s -> case newSCont# runtime (unsafeCoerce action) noAux s of
  (# s1, t #) -> (# s1, SCont t 0## #)

unSTM :: STM a -> State -> (# State, a #)
unSTM (STM act) = act

-- | Applies the function to the SCont of the running thread, and switches to the SCont that it returns. The effects of
-- the transaction, the change of the running thread to a passive one, and the start of the other are one atomic step.
-- If the thread's own SCont is returned, it goes on. If an exception is raised, nothing has happened. After
-- 'GHC.Conc.retry' the HEC runs no thread of this scheduler until a variable that was read has changed.
--
-- The SCont that is returned must be passive: else 'SContRunning' is raised. A thread of the built-in scheduler can
-- switch to another SCont only if no thread of a scheduler uses its HEC: else 'HecInUse' is raised.
switch :: (SCont -> STM SCont) -> IO ()
switch f = IO (switch# runtime (unsafeCoerce transaction))
  where
    STM transaction = do
      own <- ownSCont
      s <- f own >>= \s -> STM (seq# s)
      unless (s == own || isNone s) (refuseRunning s >> refuseUsed)
      return s

-- | Raises 'HecInUse' if the running thread is not the one that uses its HEC, and another thread does.
refuseUsed :: STM ()
refuseUsed = STM $ \s -> case maySwitchTo# runtime s of
  (# s1, 0# #) -> unSTM (throwSTM HecInUse) s1
  (# s1, _ #) -> (# s1, () #)

-- | Raises 'SContRunning' if the SCont is that of another thread which is not passive.
refuseRunning :: SCont -> STM ()
refuseRunning (SCont t n) = STM $ \s -> case runsElsewhere# runtime t n s of
  (# s1, 0# #) -> (# s1, () #)
  (# s1, _ #) -> unSTM (throwSTM SContRunning) s1

-- | Raises 'SContRunning' if the thread is another one, and not passive, whichever SCont this is. An upcall may use the
-- thread that it is about, which may run again by now.
refuseActive :: SCont -> STM ()
refuseActive (SCont t _) = refuseRunning (none t)

-- | Evaluates a choice, which must be passive or the thread's own.
choose :: SCont -> STM SCont
choose s = unless (isNone s) (refuseRunning s) >> STM (seq# s)

-- | No SCont: the HEC runs the threads of the built-in scheduler. The number is one that the thread never has.
none :: ThreadId# -> SCont
none t = SCont t 0xffffffffffffffff##

isNone :: SCont -> Bool
isNone (SCont _ n) = isTrue# (n `eqWord#` 0xffffffffffffffff##)

-- | Has the SCont been used, or has its thread been interrupted or ended since? Then 'enqueueAct' ignores it, and a
-- 'switch' passes it over.
isStale :: SCont -> STM Bool
isStale (SCont t n) = STM $ \s -> case scontNumber# runtime t s of
  (# s1, current #) -> (# s1, isTrue# (current `neWord#` n) #)

-- | If the SCont's thread waits in the runtime for a thunk: the SCont of the thread that evaluates the thunk, unless
-- that has never been an SCont. It is for dequeue activations. If the thread that evaluates the thunk stops, or the one
-- that waits is woken, before the transaction commits, the transaction begins again.
awaits :: SCont -> STM (Maybe SCont)
awaits (SCont t n) = STM $ \s -> case awaits# runtime t n s of
  (# s1, 1#, owner, current #) -> (# s1, Just (SCont owner current) #)
  (# s1, _, _, _ #) -> (# s1, Nothing #)

-- * Activations

-- | The runtime keeps activations as functions of both parts of an SCont.
type Activation a = ThreadId# -> Word# -> State -> (# State, a #)

activation :: forall a. Int# -> SCont -> STM a -> STM a
activation which (SCont t n) builtIn = STM $ \s -> case activation# runtime which t s of
  (# s1, 0#, _ #) -> unSTM builtIn s1
  (# s1, _, function #) -> (unsafeCoerce function :: Activation a) t n s1
{-# INLINE activation #-}

setActivation :: Int# -> (SCont -> STM a) -> IO ()
setActivation which act = IO $ \s -> case setActivation# runtime which (toAny act) noAux s of
  (# s1, 0# #) -> unIO (throwIO HecInUse) s1
  (# s1, _ #) -> (# s1, () #)

-- | An activation as the runtime keeps it.
toAny :: forall a. (SCont -> STM a) -> Any
toAny act = unsafeCoerce function
  where
    function :: Activation a
    function t n s = unSTM (act (SCont t n)) s

-- | Runs the dequeue activation of the SCont's thread. It chooses no SCont if the thread has none: then its HEC
-- runs the threads of the built-in scheduler.
dequeueAct :: DequeueAct
dequeueAct s = refuseActive s >> activation 0# s (builtInDequeueAct s)

-- | The dequeue activation of threads without a scheduler. It chooses no SCont: the HEC runs the threads of the
-- built-in scheduler.
builtInDequeueAct :: DequeueAct
builtInDequeueAct (SCont t _) = runtime `seq` return (none t)

-- | Gives the SCont to its scheduler by running the enqueue activation of its thread. Nothing happens if it is stale.
-- The running thread can be given only within a 'switch', because it is not passive before.
enqueueAct :: EnqueueAct
enqueueAct s = enqueueBy (\own -> activation 1# own (return ())) s
{-# INLINE enqueueAct #-}

-- | As 'enqueueAct', but with another enqueue activation. It is for a thread that the 'switch' gives to another
-- scheduler ('setNextActivations').
enqueueBy :: EnqueueAct -> EnqueueAct
enqueueBy act s@(SCont t n) = STM $ \s0 -> case give# runtime t n s0 of
  (# s1, 0# #) -> (# s1, () #)
  (# s1, 1# #) -> unSTM (act s) s1
  (# s1, _ #) -> unSTM (throwSTM SContRunning) s1
{-# INLINE enqueueBy #-}

-- | Sets the dequeue activation of the running thread. Its activations are in effect when both are set. From then on
-- the thread uses its HEC. If another thread of a scheduler does so already, 'HecInUse' is raised.
setDequeueAct :: DequeueAct -> IO ()
setDequeueAct = setActivation 0# . chosenBy

-- | Sets the enqueue activation of the running thread.
setEnqueueAct :: EnqueueAct -> IO ()
setEnqueueAct = setActivation 1#

-- | The running thread, and those that it makes, belong to this group. It is called before the activations are set, in
-- place of a group that the thread gets then. Nothing happens if the group is ejected.
setGroup :: Group -> IO ()
setGroup (Group (W# group)) = IO $ \s -> case setGroup# runtime group noAux s of (# s1, _ #) -> (# s1, () #)

chosenBy :: DequeueAct -> DequeueAct
chosenBy act s = act s >>= choose

-- | Both activations of a thread, and the group to which it belongs. Threads whose activations come without one belong
-- to one group.
data Activations
  = Activations DequeueAct EnqueueAct
  | GroupActivations Group DequeueAct EnqueueAct

parts :: Activations -> (Group, DequeueAct, EnqueueAct)
parts (Activations dequeue enqueue) = (common, dequeue, enqueue)
parts (GroupActivations group dequeue enqueue) = (group, dequeue, enqueue)

-- | The group of activations that come without one.
common :: Group
common = unsafePerformIO (newGroup "" Nothing usualPromise)
{-# NOINLINE common #-}

-- | Makes a passive thread as 'newSCont' does, but with these activations. When it ends, its HEC is not idle: the
-- dequeue activation chooses another thread for it, as when the thread blocks. If the group is ejected, it is a thread
-- of the built-in scheduler.
newMember :: Activations -> IO () -> IO SCont
newMember activations action = case parts activations of
  (Group (W# group), dequeue, enqueue) -> IO $ \s ->
    case newMember# runtime (unsafeCoerce action) noAux (toAny (chosenBy dequeue)) (toAny enqueue) group s of
      (# s1, t #) -> (# s1, SCont t 0## #)

-- | Sets the activations that the running thread gets when a 'switch' makes it passive: these; or none, so that it
-- belongs to the built-in scheduler from then on, as with activations of a group that is ejected. So a thread goes to
-- a scheduler, and comes back, although it does not use its HEC. @Nothing@ takes back what has been set.
setNextActivations :: Maybe (Maybe Activations) -> IO ()
setNextActivations next = case next of
  Nothing -> set 0# noAux none'
  Just Nothing -> set 1# noAux none'
  Just (Just activations) -> case parts activations of
    (group, dequeue, enqueue) -> set 2# (unsafeCoerce (toAny (chosenBy dequeue), toAny enqueue)) group
  where
    none' = Group 0
    set :: Int# -> Any -> Group -> IO ()
    set which !pair (Group (W# group)) = IO $ \s ->
      case setNextActivations# runtime which pair noAux group s of (# s1, _ #) -> (# s1, () #)

-- * State of an SCont

-- | The aux field of the SCont's thread, which is for the scheduler's use. At first it is @toDyn ()@.
getAux :: SCont -> STM Dynamic
getAux (SCont t _) = STM $ \s -> case aux# runtime t s of
  (# s1, var #) -> case readTVar# var s1 of (# s2, value #) -> (# s2, unsafeCoerce value #)

-- | Sets the aux field. The thread must be passive or the running one.
setAux :: SCont -> Dynamic -> STM ()
setAux s@(SCont t _) value = do
  refuseActive s
  STM $ \s0 -> case aux# runtime t s0 of
    (# s1, var #) -> case writeTVar# var (unsafeCoerce value) s1 of s2 -> (# s2, () #)

-- | Nanoseconds for which the SCont's thread has run. They count from when it was made an SCont, or first used this
-- module. Time that it spends in a foreign call counts.
runTime :: SCont -> STM Word64
runTime (SCont t _) = STM $ \s -> case runTime# runtime t s of (# s1, ns #) -> (# s1, W64# ns #)

-- * HECs

-- | The number of the HEC, from 0. It does not change in a 'switch'.
getCurrentHEC :: STM Int
getCurrentHEC = STM $ \s -> case currentHec# runtime s of (# s1, n #) -> (# s1, I# n #)

-- | The number of HECs.
getNumHECs :: IO Int
getNumHECs = runtime `seq` getNumCapabilities

-- | Starts the SCont on a HEC that no thread of a scheduler uses. If there is none, 'NoIdleHEC' is raised. The HEC is
-- used until its thread ends without a 'switch', or a 'switch' on it chooses no SCont.
runOnIdleHEC :: SCont -> IO ()
runOnIdleHEC (SCont t n) = IO $ \s -> case runOnIdleHec# runtime t n s of
  (# s1, 1# #) -> (# s1, () #)
  (# s1, 2# #) -> unIO (throwIO SContRunning) s1
  (# s1, _ #) -> unIO (throwIO NoIdleHEC) s1

-- | Ends the time slice of the HEC with this number when the transaction commits. A number without a HEC does nothing.
preemptHEC :: Int -> STM ()
preemptHEC (I# n) = STM $ \s -> case preemptHec# runtime n s of (# s1, _ #) -> (# s1, () #)

-- * Others

-- | Nanoseconds since some time in the past.
clock :: STM Word64
clock = runtime `seq` unsafeIOToSTM getMonotonicTimeNSec
