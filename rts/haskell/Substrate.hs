{-# LANGUAGE GHCForeignImportPrim, MagicHash, UnboxedTuples, UnliftedFFITypes #-}

-- | What the package's module @Hecaton.Substrate@ needs of the runtime (@rts/src/sync/substrate.rs@), and the code of
-- upcall threads (@rts/src/sync/upcall.rs@).
--
-- An SCont is a thread and a number. Its type is the package's; here the two go separately. An activation is kept as a
-- function of both.
module Substrate (forLibrary, dequeueUpcall, enqueueUpcall, Batch (..), noAux) where

import Control.Exception (SomeException, catch, displayException, evaluate)
import Data.Dynamic (Dynamic, toDyn)
import GHC.Base
import GHC.Foreign (withCStringLen)
import GHC.IO.Encoding (utf8)
import GHC.Ptr (Ptr (..))
import GHC.Conc.Sync (STM (..), atomically, childHandler)
import Unsafe.Coerce (unsafeCoerce)

type State = State# RealWorld

foreign import prim "hec_ownSContzh" ownSCont# :: Any -> State -> (# State, ThreadId#, Word# #)
foreign import prim "hec_newSContzh" newSCont# :: Any -> Any -> State -> (# State, ThreadId# #)
foreign import prim "hec_newMemberzh" newMember# :: Any -> Any -> Any -> Any -> Word# -> State -> (# State, ThreadId# #)
foreign import prim "hec_setNextActivationszh" setNext# :: Int# -> Any -> Any -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_switchzh" switch# :: Any -> State -> (# State, () #)
foreign import prim "hec_activationzh" activation# :: Int# -> ThreadId# -> State -> (# State, Int#, Any #)
foreign import prim "hec_setActivationzh" setActivation# :: Int# -> Any -> Any -> State -> (# State, Int# #)
foreign import prim "hec_scontNumberzh" number# :: ThreadId# -> State -> (# State, Word# #)
foreign import prim "hec_awaitszh" awaits# :: ThreadId# -> Word# -> State -> (# State, Int#, ThreadId#, Word# #)
foreign import prim "hec_runsElsewherezh" runsElsewhere# :: ThreadId# -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_givezh" give# :: ThreadId# -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_auxTVarzh" aux# :: ThreadId# -> State -> (# State, TVar# RealWorld Any #)
foreign import prim "hec_runTimezh" runTime# :: ThreadId# -> State -> (# State, Word# #)
foreign import prim "hec_currentHeczh" currentHec# :: State -> (# State, Int# #)
foreign import prim "hec_runOnIdleHeczh" runOnIdleHec# :: ThreadId# -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_preemptHeczh" preemptHec# :: Int# -> State -> (# State, Int# #)
foreign import prim "hec_maySwitchTozh" maySwitchTo# :: State -> (# State, Int# #)
foreign import prim "hec_giveInUpcallzh" giveInUpcall# :: ThreadId# -> Word# -> State -> (# State, Int#, Any #)
foreign import prim "hec_beginDequeuezh" beginDequeue# :: State -> (# State, Int# #)
foreign import prim "hec_culpritzh" culprit# :: State -> (# State, Word# #)
foreign import prim "hec_faultzh" fault# :: Word# -> Int# -> Addr# -> Int# -> State -> (# State, Int# #)
foreign import prim "hec_newGroupzh" newGroup# ::
  Addr# -> Int# -> Word# -> Word# -> Word# -> Word# -> State -> (# State, Word# #)
foreign import prim "hec_onBehalfzh" onBehalf# :: Word# -> State -> (# State, Int# #)
foreign import prim "hec_isEjectedzh" isEjected# :: Word# -> State -> (# State, Int# #)
foreign import prim "hec_setGroupzh" setGroup# :: Word# -> Any -> State -> (# State, Int# #)
foreign import prim "hec_enqueueAlonezh" enqueueAlone# :: ThreadId# -> Word# -> State -> (# State, Int# #)

foreign import prim "hec_forkInQueuezh" forkInQueue# :: Int# -> Int# -> Any -> State -> (# State, ThreadId# #)
foreign import prim "hec_joinQueuezh" joinQueue# :: Int# -> Int# -> State -> (# State, Int# #)
foreign import prim "hec_ownQueuezh" ownQueue# :: State -> (# State, Int#, Int# #)
foreign import prim "hec_newQueuezh" newQueue# :: Int# -> Word# -> State -> (# State, Int# #)

ownSCont :: Any -> State -> (# State, ThreadId#, Word# #)
ownSCont aux s = ownSCont# aux s
{-# NOINLINE ownSCont #-}

newSCont :: Any -> Any -> State -> (# State, ThreadId# #)
newSCont action aux s = newSCont# action aux s
{-# NOINLINE newSCont #-}

newMember :: Any -> Any -> Any -> Any -> Word# -> State -> (# State, ThreadId# #)
newMember action aux dequeue enqueue group s = newMember# action aux dequeue enqueue group s
{-# NOINLINE newMember #-}

setNext :: Int# -> Any -> Any -> Word# -> State -> (# State, Int# #)
setNext which pair aux group s = setNext# which pair aux group s
{-# NOINLINE setNext #-}

switch :: Any -> State -> (# State, () #)
switch transaction s = switch# transaction s
{-# NOINLINE switch #-}

activation :: Int# -> ThreadId# -> State -> (# State, Int#, Any #)
activation which t s = activation# which t s
{-# NOINLINE activation #-}

setActivation :: Int# -> Any -> Any -> State -> (# State, Int# #)
setActivation which act aux s = setActivation# which act aux s
{-# NOINLINE setActivation #-}

scontNumber :: ThreadId# -> State -> (# State, Word# #)
scontNumber t s = number# t s
{-# NOINLINE scontNumber #-}

awaits :: ThreadId# -> Word# -> State -> (# State, Int#, ThreadId#, Word# #)
awaits t n s = awaits# t n s
{-# NOINLINE awaits #-}

runsElsewhere :: ThreadId# -> Word# -> State -> (# State, Int# #)
runsElsewhere t n s = runsElsewhere# t n s
{-# NOINLINE runsElsewhere #-}

give :: ThreadId# -> Word# -> State -> (# State, Int# #)
give t n s = give# t n s
{-# NOINLINE give #-}

auxField :: ThreadId# -> State -> (# State, TVar# RealWorld Any #)
auxField t s = aux# t s
{-# NOINLINE auxField #-}

runTime :: ThreadId# -> State -> (# State, Word# #)
runTime t s = runTime# t s
{-# NOINLINE runTime #-}

currentHec :: State -> (# State, Int# #)
currentHec s = currentHec# s
{-# NOINLINE currentHec #-}

runOnIdleHec :: ThreadId# -> Word# -> State -> (# State, Int# #)
runOnIdleHec t n s = runOnIdleHec# t n s
{-# NOINLINE runOnIdleHec #-}

maySwitchTo :: State -> (# State, Int# #)
maySwitchTo s = maySwitchTo# s
{-# NOINLINE maySwitchTo #-}

preemptHec :: Int# -> State -> (# State, Int# #)
preemptHec n s = preemptHec# n s
{-# NOINLINE preemptHec #-}

forkInQueue :: Int# -> Int# -> Any -> State -> (# State, ThreadId# #)
forkInQueue queue key action s = forkInQueue# queue key action s
{-# NOINLINE forkInQueue #-}

joinQueue :: Int# -> Int# -> State -> (# State, Int# #)
joinQueue queue key s = joinQueue# queue key s
{-# NOINLINE joinQueue #-}

ownQueue :: State -> (# State, Int#, Int# #)
ownQueue s = ownQueue# s
{-# NOINLINE ownQueue #-}

newQueue :: Int# -> Word# -> State -> (# State, Int# #)
newQueue order seed s = newQueue# order seed s
{-# NOINLINE newQueue #-}

newGroup :: Addr# -> Int# -> Word# -> Word# -> Word# -> Word# -> State -> (# State, Word# #)
newGroup name size parent time bytes rest s = newGroup# name size parent time bytes rest s
{-# NOINLINE newGroup #-}

onBehalf :: Word# -> State -> (# State, Int# #)
onBehalf group s = onBehalf# group s
{-# NOINLINE onBehalf #-}

isEjected :: Word# -> State -> (# State, Int# #)
isEjected group s = isEjected# group s
{-# NOINLINE isEjected #-}

setGroup :: Word# -> Any -> State -> (# State, Int# #)
setGroup group aux s = setGroup# group aux s
{-# NOINLINE setGroup #-}

-- | What the package gets.
forLibrary ::
  ( Any -> State -> (# State, ThreadId#, Word# #)
  , Any -> Any -> State -> (# State, ThreadId# #)
  , Any -> State -> (# State, () #)
  , Int# -> ThreadId# -> State -> (# State, Int#, Any #)
  , Int# -> Any -> Any -> State -> (# State, Int# #)
  , ThreadId# -> State -> (# State, Word# #)
  , ThreadId# -> Word# -> State -> (# State, Int# #)
  , ThreadId# -> Word# -> State -> (# State, Int# #)
  , ThreadId# -> State -> (# State, TVar# RealWorld Any #)
  , ThreadId# -> State -> (# State, Word# #)
  , State -> (# State, Int# #)
  , ThreadId# -> Word# -> State -> (# State, Int# #)
  , State -> (# State, Int# #)
  , Int# -> State -> (# State, Int# #)
  , Any -> Any -> Any -> Any -> Word# -> State -> (# State, ThreadId# #)
  , Int# -> Any -> Any -> Word# -> State -> (# State, Int# #)
  , Int# -> Int# -> Any -> State -> (# State, ThreadId# #)
  , Int# -> Int# -> State -> (# State, Int# #)
  , State -> (# State, Int#, Int# #)
  , Int# -> Word# -> State -> (# State, Int# #)
  , Addr# -> Int# -> Word# -> Word# -> Word# -> Word# -> State -> (# State, Word# #)
  , Word# -> State -> (# State, Int# #)
  , Word# -> State -> (# State, Int# #)
  , Word# -> Any -> State -> (# State, Int# #)
  , Word# -> SomeException -> State -> (# State, () #)
  , ThreadId# -> Word# -> State -> (# State, Int#, ThreadId#, Word# #)
  )
forLibrary =
  ( ownSCont, newSCont, switch, activation, setActivation, scontNumber, runsElsewhere, give, auxField, runTime
  , currentHec, runOnIdleHec, maySwitchTo, preemptHec, newMember, setNext, forkInQueue, joinQueue, ownQueue, newQueue
  , newGroup, onBehalf, isEjected, setGroup, failed, awaits
  )

-- | An activation as the runtime keeps it.
type Activation = ThreadId# -> Word# -> State -> (# State, Any #)

-- | An upcall thread: gives threads to their schedulers, and switches to the SCont that the dequeue activation of a
-- thread chooses, in one transaction. Then it does not return. If it does, this was not possible, because an activation
-- waits or has raised an exception: it does one after the other. An exception is a fault of a scheduler, which is
-- ejected. Then the upcall is made again. It chooses no SCont if the scheduler of the activation is ejected.
dequeueUpcall :: ThreadId# -> Activation -> Batch -> IO ()
dequeueUpcall t activated batch = case batch of
  NoMore -> choose
  _ -> do
    IO (switch# (unsafeCoerce both)) `catch` inOne
    enqueueTogether batch
    choose
  where
    choose = IO (switch# (unsafeCoerce dequeue)) `catch` \e -> fault 0# e >> choose
    dequeue :: State -> (# State, Any #)
    dequeue s0 = case beginDequeue# s0 of
      (# s1, 0# #) -> seq# (unsafeCoerce (SCont t 0xffffffffffffffff##)) s1
      (# s1, _ #) -> case number# t s1 of
        (# s2, number #) -> case activated t number s2 of
          (# s3, chosen #) -> seq# chosen s3
    both :: State -> (# State, Any #)
    both = catchRetry# (\s -> case enqueue batch s of (# s1, () #) -> dequeue s1) own
    own :: State -> (# State, Any #)
    own s = case myThreadId# s of (# s1, me #) -> seq# (unsafeCoerce (SCont me 0##)) s1
    inOne :: SomeException -> IO ()
    inOne _ = return ()
{-# NOINLINE dequeueUpcall #-}

-- | An SCont, as the package has it. A switch to that of an upcall thread, which has number 0, only commits. With the
-- largest number it is none.
data SCont = SCont ThreadId# Word#

-- | Passive threads that are given to their schedulers together, each with the number of its SCont.
data Batch = NoMore | Batch ThreadId# Word# Batch

-- | An upcall thread: gives passive threads to their schedulers, without those that have got exceptions meanwhile.
enqueueUpcall :: Batch -> IO ()
enqueueUpcall batch = case batch of
  Batch _ _ NoMore -> atomically (STM (enqueue batch)) `catch` fault 1#
  _ -> enqueueTogether batch
{-# NOINLINE enqueueUpcall #-}

-- | Gives threads to their schedulers in one transaction. If an activation raises an exception or waits, each of them
-- gets an upcall of its own.
enqueueTogether :: Batch -> IO ()
enqueueTogether batch = do
  done <- IO (atomically# (catchRetry# allOfThem (\s -> (# s, False #)))) `catch` together
  if done then return () else enqueueEach batch
  where
    allOfThem s = case enqueue batch s of (# s1, () #) -> (# s1, True #)
    together :: SomeException -> IO Bool
    together _ = return False

-- | In a transaction: runs the enqueue activations of threads that are still passive. Where one has none, it has been
-- claimed since, and the transaction will begin again.
enqueue :: Batch -> State -> (# State, () #)
enqueue NoMore s = (# s, () #)
enqueue (Batch t number others) s = case giveInUpcall# t number s of
  (# s1, 0#, _ #) -> enqueue others s1
  (# s1, _, act #) -> case (unsafeCoerce act :: Activation) t number s1 of (# s2, _ #) -> enqueue others s2

enqueueEach :: Batch -> IO ()
enqueueEach NoMore = return ()
enqueueEach (Batch t number others) = do
  IO (\s -> case enqueueAlone# t number s of (# s1, _ #) -> (# s1, () #))
  enqueueEach others

-- | An activation, dequeue (0) or enqueue (1), has raised an exception in an upcall. Its scheduler is ejected. If it is
-- not known whose activation it was, the exception is reported as that of a thread is which ends by it.
fault :: Int# -> SomeException -> IO ()
fault which e = IO $ \s -> case culprit# s of
  (# s1, 0## #) -> unIO (childHandler e) s1
  (# s1, group #) -> faultOf group which e s1

-- | A dequeue activation of the group has raised an exception in a 'switch'.
failed :: Word# -> SomeException -> State -> (# State, () #)
failed group e s = faultOf group 0# e s
{-# NOINLINE failed #-}

faultOf :: Word# -> Int# -> SomeException -> State -> (# State, () #)
faultOf group which e = unIO (textOf e >>= \text -> withCStringLen utf8 text note)
  where
    note (Ptr text, I# size) = IO $ \s -> case fault# group which text size s of
      (# s1, _ #) -> case yield# s1 of s2 -> (# s2, () #)

-- | The beginning of an exception's text. To show it may raise another one.
textOf :: SomeException -> IO String
textOf e = (evaluate (length text) >> return text) `catch` unshown
  where
    text = take 200 (displayException e)
    unshown :: SomeException -> IO String
    unshown _ = return "an exception"

-- | The first value of the aux field of a thread that @forkIO@ makes.
noAux :: Dynamic
noAux = toDyn ()
{-# NOINLINE noAux #-}
