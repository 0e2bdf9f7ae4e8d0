{-# LANGUAGE DeriveTraversable #-}

-- | States of the model: HECs, and a heap of threads, TVars, MVars and thunks ([SHMP14, §5.1, figure 5]).
--
-- In the paper an SCont is either in a HEC or bound in the heap, never in both. Here all threads are in one map, and
-- each says in its 'Status' where it is; 'Hecaton.Substrate.Model.violations' looks whether the HECs agree.
--
-- Threads of the built-in scheduler ('Floating') need no HEC of the model: any of them may take the next step. So the
-- built-in scheduler is every scheduler.
module Hecaton.Substrate.Model.State
  ( Address,
    Code,
    V,

    -- * Threads
    Thread (..),
    Status (..),
    Readiness (..),
    Reason (..),
    Kind (..),
    Activation (..),
    Frame (..),
    mainThread,
    isUser,
    current,

    -- * HECs
    Hec (..),
    hecThread,

    -- * Heap
    MVarState (..),
    ThunkState (..),

    -- * States
    State (..),
    Ending (..),
    Fault (..),
    initial,
    new,
    thread,
    onThread,
    onHec,

    -- * Canonical states
    canonical,
    mentions,
  )
where

import Data.Foldable (toList)
import Data.List (foldl')
import Data.Map.Strict (Map)
import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe)
import Hecaton.Substrate.Model.Term

-- | An address in the heap.
type Address = Int

-- | A term of a state.
type Code = Term Address

-- | A value of a state.
type V = Value Address

-- | A thread object.
data Thread a = Thread
  { -- | What it evaluates, and the context of that.
    code :: Term a,
    frames :: [Frame a],
    dequeue :: Activation a,
    enqueue :: Activation a,
    -- | The TVar of its aux field.
    aux :: a,
    masking :: Masking,
    -- | Exceptions on their way, oldest first, each with the thread that waits until it has arrived.
    pending :: [(Exn, a)],
    -- | Which of its SConts is current.
    number :: a,
    status :: Status a,
    kind :: Kind,
    -- | Whether it ever ran.
    ran :: Bool
  }
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | Where a thread is.
data Status a
  = -- | It runs, sleeps or calls on this HEC.
    OnHec Int
  | -- | The built-in scheduler has it; it may run at any time.
    Floating
  | -- | An SCont that can be switched to.
    Passive Readiness
  | -- | It has been woken, and its enqueue upcall is to come.
    Woken
  | -- | The runtime has it.
    Blocked (Reason a)
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | What is known of a passive SCont.
data Readiness
  = -- | It waits in a structure of the program.
    Waiting
  | -- | It was last given to @enqueueAct@.
    Ready
  deriving (Eq, Ord, Show)

-- | What a blocked thread waits for.
data Reason a
  = -- | For a write to one of these TVars.
    OnTVars [a]
  | -- | Nothing any more: one was written.
    Awake
  | -- | To take a value, or to put one.
    OnMVar a (Maybe (Value a))
  | OnThunk a
  | -- | For the return of a foreign call, with this result.
    InCall (Value a)
  | -- | For the arrival of an exception at this thread.
    OnThrow a
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | What happens when a thread has ended.
data Kind
  = -- | Made by @newSCont@, or @main@: its HEC becomes idle.
    Plain
  | -- | Made by @forkIO@: a dequeue upcall finds the next one.
    Forked
  | -- | An upcall thread: it is gone when it has switched.
    Upcall
  deriving (Eq, Ord, Show)

-- | A thread's dequeue or enqueue activation.
data Activation a
  = BuiltIn
  | Activation (Fun a)
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | One level of the context of a computation.
data Frame a
  = BindFrame (Fun a)
  | -- | The handler, and the state of masking in which it was installed.
    CatchFrame (Fun a) Masking
  | -- | Restores a state of masking.
    MaskFrame Masking
  | -- | Updates a thunk.
    UpdateFrame a
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | A HEC.
data Hec a
  = Idle
  | Running a
  | -- | In a @switch@ that has retried, until one of these TVars is written; 'Nothing' when one was.
    Sleeping a (Maybe [a])
  | -- | In a foreign call with this result.
    Outcall a (Value a)
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | The thread of a HEC.
hecThread :: Hec a -> Maybe a
hecThread hec = case hec of
  Idle -> Nothing
  Running a -> Just a
  Sleeping a _ -> Just a
  Outcall a _ -> Just a

-- | An MVar: its value with the threads that wait to put one, or those that wait to take one; in order of arrival.
data MVarState a
  = Full (Value a) [a]
  | Empty [a]
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | A thunk.
data ThunkState a
  = Suspended (Term a)
  | -- | Under evaluation by this thread; the term is what a thief evaluates.
    BlackHole a (Term a)
  | Evaluated (Value a)
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | How a program ends.
data Ending
  = Returned
  | -- | @main@ ended by an exception.
    Uncaught Exn
  | -- | No rule applies.
    Deadlocked
  | Faulted Fault
  deriving (Eq, Ord, Show)

-- | What a scheduler must not do ([SHMP14, §6.8]).
data Fault
  = ActivationRaised Exn
  | ChoseRunning
  | -- | A transaction did not end.
    RunsAway
  deriving (Eq, Ord, Show)

-- | A program state.
data State = State
  { hecs :: [Hec Address],
    threads :: Map Address (Thread Address),
    tvars :: Map Address V,
    mvars :: Map Address (MVarState Address),
    thunks :: Map Address (ThunkState Address),
    -- | The next free address.
    fresh :: Address,
    -- | What was output, last first.
    output :: [String],
    ending :: Maybe Ending
  }
  deriving (Eq, Ord, Show)

-- | The address of the thread that runs @main@.
mainThread :: Address
mainThread = 0

-- | The first state of a program. In [SHMP14, §5.1] HEC 0 runs it. Here @main@ is a thread of the built-in scheduler,
-- which uses no HEC until it sets its activations.
initial :: Int -> Code -> State
initial hecCount program =
  State
    { hecs = replicate hecCount Idle,
      threads = Map.singleton mainThread first,
      tvars = Map.singleton 1 Unit,
      mvars = Map.empty,
      thunks = Map.empty,
      fresh = 3,
      output = [],
      ending = Nothing
    }
  where
    first =
      Thread
        { code = program,
          frames = [],
          dequeue = BuiltIn,
          enqueue = BuiltIn,
          aux = 1,
          masking = Unmasked,
          pending = [],
          number = 2,
          status = Floating,
          kind = Plain,
          ran = True
        }

-- | A new address.
new :: State -> (Address, State)
new state = (fresh state, state {fresh = fresh state + 1})

-- | A thread that has not ended.
thread :: State -> Address -> Thread Address
thread state a = fromMaybe (error ("no thread " ++ show a)) (Map.lookup a (threads state))

-- | Changes a thread.
onThread :: Address -> (Thread Address -> Thread Address) -> State -> State
onThread a change state = state {threads = Map.adjust change a (threads state)}

-- | Changes what a HEC does.
onHec :: Int -> Hec Address -> State -> State
onHec h hec state = case splitAt h (hecs state) of
  (before, _ : after) -> state {hecs = before ++ hec : after}
  _ -> error ("no HEC " ++ show h)

-- | Whether a user scheduler has the thread: both activations are set.
isUser :: Thread a -> Bool
isUser t = case (dequeue t, enqueue t) of
  (Activation _, Activation _) -> True
  _ -> False

-- | The current SCont of a thread.
current :: State -> Address -> V
current state a = SCont a (number (thread state a))

-- | The addresses that an object of the heap mentions.
mentions :: State -> Address -> [Address]
mentions state a =
  concat
    [ foldMap toList (Map.lookup a (threads state)),
      foldMap toList (Map.lookup a (tvars state)),
      foldMap toList (Map.lookup a (mvars state)),
      foldMap toList (Map.lookup a (thunks state))
    ]

-- | The state with addresses named in the order in which they are reached, without what is not reached. States that
-- differ in the names of addresses only become equal.
--
-- Roots are the threads that run or will: all but passive ones that wait, which are collected when nothing refers to
-- them ([SHMP14, §3.3.1]).
canonical :: State -> State
canonical state =
  state
    { hecs = map (fmap name) (hecs state),
      threads = rename (threads state),
      tvars = rename (tvars state),
      mvars = rename (mvars state),
      thunks = rename (thunks state),
      fresh = Map.size names
    }
  where
    names = foldl' reach Map.empty (mainThread : concatMap toList (hecs state) ++ others)
    others = Map.keys (Map.filter isRoot (threads state))
    isRoot t = status t /= Passive Waiting
    reach seen a
      | Map.member a seen = seen
      | otherwise = foldl' reach (Map.insert a (Map.size seen) seen) (mentions state a)
    name a = names Map.! a
    rename :: Functor f => Map Address (f Address) -> Map Address (f Address)
    rename heap =
      Map.fromList [(a', fmap name object) | (a, object) <- Map.toList heap, Just a' <- [Map.lookup a names]]
