-- | Asynchronous exceptions ([SHMP14, §6.7], which leaves them open; masking is that of [MPMR01]).
--
-- An SCont is one-shot: an exception that reaches a passive thread claims it, so that references to it become stale,
-- and gives the thread to its scheduler by an enqueue upcall. Hence a thread either leaves the structure that it waits
-- in, or gets what it waits for.
module Hecaton.Substrate.Model.Interrupt
  ( throwing,
    arrivals,
  )
where

import Data.List (delete)
import qualified Data.Map.Strict as Map
import Hecaton.Substrate.Model.Move
import qualified Hecaton.Substrate.Model.Rule as Rule
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Term

-- | @throwTo@ by a thread. It returns at once if the target takes the exception at once. Else the thread blocks until
-- it does; also if the target is running, because the exception may take its time.
throwing :: State -> Place -> Address -> Address -> Exn -> [Transition]
throwing state place a b exn
  | a == b = [([Rule.ThrowTo], raise a exn state)]
  | otherwise = case Map.lookup b (threads state) of
    Nothing -> [([Rule.ThrowTo], reply a Unit state)]
    Just target ->
      [([Rule.ThrowTo, received target], raise b exn (reply a Unit state)) | receptive state b]
        ++ [waits | not (receptive state b) || runs target]
  where
    runs target = case status target of
      OnHec _ -> True
      Floating -> True
      _ -> False
    waits =
      let send t = t {pending = pending t ++ [(exn, a)]}
          (rs, state') = block Rule.BlockThrow place a (OnThrow b) (onThread b send state)
       in (Rule.ThrowTo : rs, state')

-- | The arrival of the first exception that is on its way to a thread.
arrivals :: State -> Address -> [Transition]
arrivals state b = case pending target of
  (exn, a) : rest
    | receptive state b ->
      [ ( [received target, Rule.ResumeThrow],
          raise b exn (wake a (reply a Unit (onThread b (\t -> t {pending = rest}) state)))
        )
      ]
  _ -> []
  where
    target = thread state b

received :: Thread Address -> Rule.Rule
received target
  | masking target == Unmasked = Rule.Receive
  | otherwise = Rule.Interrupt

-- | Whether a thread takes an exception now. Masked threads do while they wait: also passive ones that have not been
-- given what they wait for.
receptive :: State -> Address -> Bool
receptive state a = case masking t of
  Unmasked -> not calls
  MaskedInterruptible -> waits
  MaskedUninterruptible -> False
  where
    t = thread state a
    calls = case status t of
      OnHec h | Outcall _ _ <- hecs state !! h -> True
      Blocked (InCall _) -> True
      _ -> False
    waits = case status t of
      OnHec h | Sleeping _ _ <- hecs state !! h -> True
      Passive Waiting -> True
      Blocked (OnTVars _) -> True
      Blocked Awake -> True
      Blocked (OnMVar _ _) -> True
      Blocked (OnThrow _) -> True
      _ -> False

-- | Raises an exception in a thread wherever it is. Thunks under its evaluation are suspended again.
raise :: Address -> Exn -> State -> State
raise a exn state0
  | notStarted = end a state0
  | otherwise = unwind (frames t) (place (leaveQueue state0))
  where
    t = thread state0 a
    notStarted = not (ran t) && waitsForStart && a /= mainThread
    waitsForStart = case status t of
      Passive _ -> True
      Woken -> True
      _ -> False
    leaveQueue state = case status t of
      Blocked (OnMVar m _) -> state {mvars = Map.adjust (without a) m (mvars state)}
      Blocked (OnThrow b) -> onThread b (\u -> u {pending = filter ((/= a) . snd) (pending u)}) state
      _ -> state
    without b contents = case contents of
      Full v waiting -> Full v (delete b waiting)
      Empty waiting -> Empty (delete b waiting)
    place state = case status t of
      OnHec h -> onHec h (Running a) state
      Floating -> state
      Woken -> state
      Blocked _ -> wake a state
      Passive _ ->
        let (n, state') = new state
         in wake a (onThread a (\u -> u {number = n}) state')
    unwind rest state = case rest of
      BindFrame _ : outer -> unwind outer state
      MaskFrame _ : outer -> unwind outer state
      UpdateFrame x : outer -> unwind outer (suspend x state)
      -- One step takes the exception to its handler, so that another cannot come in between.
      CatchFrame f m : outer -> handle a f m exn outer state
      [] -> onThread a (\u -> u {code = thrown, frames = [], masking = MaskedUninterruptible}) state
    thrown = Throw (Val (Exception exn))
    suspend x state = case thunks state Map.! x of
      BlackHole owner body | owner == a -> state {thunks = Map.insert x (Suspended body) (thunks state)}
      _ -> state
