{-# LANGUAGE GHCForeignImportPrim, MagicHash, UnboxedTuples, UnliftedFFITypes #-}

-- | What the package's module @Hecaton.Substrate@ needs of the runtime (@rts/src/sync/substrate.rs@), and the code of
-- upcall threads (@rts/src/sync/upcall.rs@).
--
-- An SCont is a thread and a number. Its type is the package's; here the two go separately. An activation is kept as a
-- function of both.
module Substrate (forLibrary, dequeueUpcall, enqueueUpcall, Batch (..), noAux) where

import Control.Exception (SomeException, catch)
import Data.Dynamic (Dynamic, toDyn)
import GHC.Base
import GHC.Conc.Sync (STM (..), atomically, childHandler)
import Unsafe.Coerce (unsafeCoerce)

type State = State# RealWorld

foreign import prim "hec_ownSContzh" ownSCont# :: Any -> State -> (# State, ThreadId#, Word# #)
foreign import prim "hec_newSContzh" newSCont# :: Any -> Any -> State -> (# State, ThreadId# #)
foreign import prim "hec_newMemberzh" newMember# :: Any -> Any -> Any -> Any -> State -> (# State, ThreadId# #)
foreign import prim "hec_setNextActivationszh" setNext# :: Int# -> Any -> Any -> State -> (# State, Int# #)
foreign import prim "hec_switchzh" switch# :: Any -> State -> (# State, () #)
foreign import prim "hec_activationzh" activation# :: Int# -> ThreadId# -> State -> (# State, Int#, Any #)
foreign import prim "hec_setActivationzh" setActivation# :: Int# -> Any -> Any -> State -> (# State, Int# #)
foreign import prim "hec_scontNumberzh" number# :: ThreadId# -> State -> (# State, Word# #)
foreign import prim "hec_runsElsewherezh" runsElsewhere# :: ThreadId# -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_givezh" give# :: ThreadId# -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_auxTVarzh" aux# :: ThreadId# -> State -> (# State, TVar# RealWorld Any #)
foreign import prim "hec_runTimezh" runTime# :: ThreadId# -> State -> (# State, Word# #)
foreign import prim "hec_currentHeczh" currentHec# :: State -> (# State, Int# #)
foreign import prim "hec_runOnIdleHeczh" runOnIdleHec# :: ThreadId# -> Word# -> State -> (# State, Int# #)
foreign import prim "hec_preemptHeczh" preemptHec# :: Int# -> State -> (# State, Int# #)
foreign import prim "hec_maySwitchTozh" maySwitchTo# :: State -> (# State, Int# #)
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

newMember :: Any -> Any -> Any -> Any -> State -> (# State, ThreadId# #)
newMember action aux dequeue enqueue s = newMember# action aux dequeue enqueue s
{-# NOINLINE newMember #-}

setNext :: Int# -> Any -> Any -> State -> (# State, Int# #)
setNext which pair aux s = setNext# which pair aux s
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
  , Any -> Any -> Any -> Any -> State -> (# State, ThreadId# #)
  , Int# -> Any -> Any -> State -> (# State, Int# #)
  , Int# -> Int# -> Any -> State -> (# State, ThreadId# #)
  , Int# -> Int# -> State -> (# State, Int# #)
  , State -> (# State, Int#, Int# #)
  , Int# -> Word# -> State -> (# State, Int# #)
  )
forLibrary =
  ( ownSCont, newSCont, switch, activation, setActivation, scontNumber, runsElsewhere, give, auxField, runTime
  , currentHec, runOnIdleHec, maySwitchTo, preemptHec, newMember, setNext, forkInQueue, joinQueue, ownQueue, newQueue
  )

-- | An activation as the runtime keeps it.
type Activation = ThreadId# -> Word# -> State -> (# State, Any #)

-- | An upcall thread: gives threads to their schedulers, and switches to the SCont that the dequeue activation of a
-- thread chooses, in one transaction. Then it does not return. If it does, this was not possible, because an activation
-- waits or has raised an exception: it does one after the other. An exception is reported as that of a thread is which
-- ends by it.
dequeueUpcall :: ThreadId# -> Activation -> Batch -> IO ()
dequeueUpcall t activated batch = case batch of
  NoMore -> choose
  _ -> do
    IO (switch# (unsafeCoerce both)) `catch` failed
    enqueueTogether batch
    choose
  where
    choose = IO (switch# (unsafeCoerce dequeue)) `catch` childHandler
    dequeue :: State -> (# State, Any #)
    dequeue s0 = case number# t s0 of
      (# s1, number #) -> case activated t number s1 of
        (# s2, chosen #) -> seq# chosen s2
    both :: State -> (# State, Any #)
    both = catchRetry# (\s -> case enqueue batch s of (# s1, () #) -> dequeue s1) own
    own :: State -> (# State, Any #)
    own s = case myThreadId# s of (# s1, me #) -> seq# (unsafeCoerce (Own me 0##)) s1
    failed :: SomeException -> IO ()
    failed _ = return ()
{-# NOINLINE dequeueUpcall #-}

-- | The SCont of an upcall thread, as the package has it: a switch to it only commits.
data Own = Own ThreadId# Word#

-- | Passive threads that are given to their schedulers together, each with the number of its SCont.
data Batch = NoMore | Batch ThreadId# Word# Batch

-- | An upcall thread: gives passive threads to their schedulers, without those that have got exceptions meanwhile.
enqueueUpcall :: Batch -> IO ()
enqueueUpcall batch = case batch of
  Batch _ _ NoMore -> atomically (STM (enqueue batch)) `catch` childHandler
  _ -> enqueueTogether batch
{-# NOINLINE enqueueUpcall #-}

-- | Gives threads to their schedulers in one transaction. If an activation raises an exception or waits, each of them
-- gets an upcall of its own.
enqueueTogether :: Batch -> IO ()
enqueueTogether batch = do
  done <- IO (atomically# (catchRetry# allOfThem (\s -> (# s, False #)))) `catch` failed
  if done then return () else enqueueEach batch
  where
    allOfThem s = case enqueue batch s of (# s1, () #) -> (# s1, True #)
    failed :: SomeException -> IO Bool
    failed _ = return False

-- | In a transaction: runs the enqueue activations of threads that are still passive. Where one has none, it has been
-- claimed since, and the transaction will begin again.
enqueue :: Batch -> State -> (# State, () #)
enqueue NoMore s = (# s, () #)
enqueue (Batch t number others) s = case give# t number s of
  (# s1, 1# #) -> case activation# 1# t s1 of
    (# s2, 0#, _ #) -> enqueue others s2
    (# s2, _, act #) -> case (unsafeCoerce act :: Activation) t number s2 of (# s3, _ #) -> enqueue others s3
  (# s1, _ #) -> enqueue others s1

enqueueEach :: Batch -> IO ()
enqueueEach NoMore = return ()
enqueueEach (Batch t number others) = do
  IO (\s -> case enqueueAlone# t number s of (# s1, _ #) -> (# s1, () #))
  enqueueEach others

-- | The first value of the aux field of a thread that @forkIO@ makes.
noAux :: Dynamic
noAux = toDyn ()
{-# NOINLINE noAux #-}
