-- | What several rules of the model have in common: how a thread blocks, wakes up, is claimed and ends, and the upcalls
-- ([SHMP14, §6.2, figure 11]).
module Hecaton.Substrate.Model.Move
  ( Transition,
    Place (..),

    -- * Threads
    continue,
    reply,
    handle,
    wake,
    claim,
    make,
    end,
    finish,
    fault,

    -- * Upcalls
    block,
    upDequeue,
    upEnqueue,

    -- * Commits
    commit,
  )
where

import Data.List (foldl')
import qualified Data.Map.Strict as Map
import Data.Set (Set)
import qualified Data.Set as Set
import Hecaton.Substrate.Model.Rule (Rule)
import qualified Hecaton.Substrate.Model.Rule as Rule
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Term
import Hecaton.Substrate.Model.Transaction

-- | The rules of a transition, and the next state.
type Transition = ([Rule], State)

-- | Where a running thread is.
data Place
  = -- | On this HEC.
    At Int
  | -- | In the built-in scheduler.
    Outside

-- | Changes what a thread evaluates.
continue :: Address -> Code -> State -> State
continue a next = onThread a (\t -> t {code = next})

-- | Ends the operation that a thread is in.
reply :: Address -> V -> State -> State
reply a v = continue a (Return (Val v))

-- | Runs the handler of an exception, installed in a state of masking, in an outer context. It runs masked.
handle :: Address -> Fun Address -> Masking -> Exn -> [Frame Address] -> State -> State
handle a f m exn outer = onThread a handles
  where
    handles t = t {code = apply f (Exception exn), frames = MaskFrame m : outer, masking = max m MaskedInterruptible}

-- | Gives a thread that the runtime had back to its scheduler: its enqueue upcall is owed, or it may run at once.
wake :: Address -> State -> State
wake a = onThread a (\t -> t {status = if isUser t then Woken else Floating})

-- | Makes a passive thread run on a HEC, by a new SCont. With several HECs, @main@ uses none while it is a thread of
-- the built-in scheduler, because it is bound.
claim :: Address -> Int -> State -> State
claim a h state
  | a == mainThread && not (isUser (thread state a)) && length (hecs state) > 1 =
    onHec h Idle (onThread a (claimed Floating) state')
  | otherwise = onHec h (Running a) (onThread a (claimed (OnHec h)) state')
  where
    (n, state') = new state
    claimed there t = t {number = n, status = there, ran = True}

-- | A new thread that inherits activations and masking from another.
make :: Thread Address -> (Thread Address -> Thread Address) -> Code -> State -> (Address, State)
make parent change body state0 = (a, state3 {threads = Map.insert a t (threads state3), tvars = withAux})
  where
    (a, state1) = new state0
    (n, state2) = new state1
    (auxiliary, state3) = new state2
    withAux = Map.insert auxiliary Unit (tvars state3)
    t = change parent {code = body, frames = [], aux = auxiliary, pending = [], number = n, ran = False}

-- | Removes a thread that has ended. Throwers that wait for it go on.
end :: Address -> State -> State
end a state = foldl' resume (state {threads = Map.delete a (threads state)}) (pending (thread state a))
  where
    resume s (_, thrower) = wake thrower (reply thrower Unit s)

-- | The end of the program. Only output is left of the state.
finish :: Ending -> State -> State
finish how state =
  state {hecs = [], threads = Map.empty, tvars = Map.empty, mvars = Map.empty, thunks = Map.empty, ending = Just how}

-- | The end of the program by a faulty scheduler.
fault :: Rule -> Fault -> State -> Transition
fault r what state = ([r], finish (Faulted what) state)

-- | Blocks a thread. Its HEC makes a dequeue upcall.
block :: Rule -> Place -> Address -> Reason Address -> State -> Transition
block r place a reason state = case place of
  Outside -> ([r], blocked)
  At h -> upDequeue [r] h (thread state a) (current state a) blocked
  where
    blocked = onThread a (\t -> t {status = Blocked reason}) state

-- | 'Rule.UpDequeue': a HEC gets a new SCont that switches to what the dequeue activation of a thread returns. The
-- thread itself is owned by the runtime, and may be woken meanwhile. The slot of a HEC becomes idle if a thread of the
-- built-in scheduler leaves it.
upDequeue :: [Rule] -> Int -> Thread Address -> V -> State -> Transition
upDequeue so h t s state = case dequeue t of
  Activation f | isUser t -> (so ++ [Rule.UpDequeue], onHec h (Running a) state')
    where
      (a, state') = make t ephemeral (Switch (Fun unused (apply f s))) state
      ephemeral e = e {masking = MaskedUninterruptible, status = OnHec h, kind = Upcall, ran = True}
      unused = -1
  _ -> (so, onHec h Idle state)

-- | 'Rule.UpEnqueueIdle' and 'Rule.UpEnqueueRunning': a thread that has been woken is made passive and given to its
-- enqueue activation. The upcall is one transaction, so it is one transition; it is not taken while it retries. A HEC
-- that sleeps or is in a foreign call counts as idle here: the upcall has a thread of its own. The paper prefers idle
-- HECs. Here any HEC may make the upcall, because the runtime makes it on the one that has woken the thread.
upEnqueue :: State -> Address -> [Transition]
upEnqueue state a =
  [ transition
    | (h, hec) <- zip [0 ..] (hecs state),
      let done = transaction (context h) (Perform EnqueueAct [Val (current state a)]) passive
          so = upon hec : rules done,
      transition <- case result done of
        Value _ -> [(so, commit (writeSet done) (after done))]
        Raised exn -> [(so ++ [Rule.UpRaised], finish (Faulted (ActivationRaised exn)) state)]
        Endless -> [(so, finish (Faulted RunsAway) state)]
        Retried -> []
        BlackHoled _ -> []
  ]
  where
    passive = onThread a (\t -> t {status = Passive Waiting}) state
    context h = Context {self = nobody, hecNumber = h, switches = True, upcall = True}
    nobody = -1
    upon hec = case hec of
      Running _ -> Rule.UpEnqueueRunning
      _ -> Rule.UpEnqueueIdle

-- | What a commit does beside its effects: those who wait for one of the TVars written are awake, and passive threads
-- that were given to the built-in scheduler may run.
commit :: Set Address -> State -> State
commit written state = foldl' start awake given
  where
    awake = state {threads = Map.map notice (threads state), hecs = map rouse (hecs state)}
    meets = any (`Set.member` written)
    notice t = case status t of
      Blocked (OnTVars read') | meets read' -> t {status = Blocked Awake}
      _ -> t
    rouse hec = case hec of
      Sleeping a (Just read') | meets read' -> Sleeping a Nothing
      _ -> hec
    given = [a | (a, t) <- Map.toList (threads state), status t == Passive Ready, enqueue t == BuiltIn]
    start s a =
      let (n, s') = new s
       in onThread a (\t -> t {number = n, status = Floating}) s'
