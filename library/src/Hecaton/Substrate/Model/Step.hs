-- | HEC transitions ([SHMP14, §5.2, §5.4, §6]): from a state to all next states.
module Hecaton.Substrate.Model.Step
  ( Settings (..),
    Ticks (..),
    steps,
  )
where

import Data.List (nub)
import qualified Data.Map.Strict as Map
import Data.Maybe (isJust)
import qualified Data.Set as Set
import Hecaton.Substrate.Model.Interrupt
import Hecaton.Substrate.Model.Move
import qualified Hecaton.Substrate.Model.Rule as Rule
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Term
import Hecaton.Substrate.Model.Transaction

-- | What a program is run with.
data Settings = Settings
  { -- | The number of HECs.
    hecCount :: Int,
    ticks :: Ticks,
    -- | The explorer gives up when it has seen more states than this.
    stateLimit :: Int
  }

-- | Where the timer can stop threads of user schedulers.
data Ticks = NoTicks | AtTickPoints | Everywhere
  deriving (Eq, Show)

-- | All transitions of a state. Upcalls, timer ticks and what else the runtime does come at any time, so they are
-- transitions as well.
steps :: Settings -> State -> [Transition]
steps settings state
  | isJust (ending state) = []
  | otherwise =
    concat
      [ concat (zipWith (hecSteps settings state) [0 ..] (hecs state)),
        concat [threadSteps state Outside a | (a, t) <- everyThread, status t == Floating],
        concat [resumptions state a | (a, Thread {status = Blocked reason}) <- everyThread, ready reason],
        concat [upEnqueue state a | (a, t) <- everyThread, status t == Woken],
        concatMap (arrivals state . fst) everyThread
      ]
  where
    everyThread = Map.toList (threads state)
    ready reason = case reason of
      Awake -> True
      InCall _ -> True
      OnThunk a -> case thunks state Map.! a of
        BlackHole _ _ -> False
        _ -> True
      _ -> False

-- | What the runtime may do with a blocked thread whose reason has gone.
resumptions :: State -> Address -> [Transition]
resumptions state a = case status (thread state a) of
  Blocked Awake -> [([Rule.TResumeRetry], wake a state)]
  Blocked (OnThunk _) -> [([Rule.ResumeBH], wake a state)]
  Blocked (InCall v) -> [([Rule.OCRetSlow], wake a (reply a v state))]
  _ -> []

hecSteps :: Settings -> State -> Int -> Hec Address -> [Transition]
hecSteps settings state h hec = case hec of
  Idle -> []
  Running a -> threadSteps state (At h) a ++ timer settings state h a
  Sleeping _ (Just _) -> []
  Sleeping a Nothing -> [([Rule.TWakeup], onHec h (Running a) state)]
  Outcall a v ->
    [ ([Rule.OCRetFast], onHec h (Running a) (reply a v state)),
      upDequeue [Rule.OCSteal] h (thread state a) (current state a) $
        onThread a (\t -> t {status = Blocked (InCall v)}) state
    ]

-- | 'Rule.Tick', in two forms: the thread yields by a @switch@ of its own, as in the paper; or the enqueue and the
-- dequeue upcall are made apart, as the runtime does it. Then a @retry@ of the dequeue activation does not undo the
-- enqueue.
timer :: Settings -> State -> Int -> Address -> [Transition]
timer settings state h a
  | not (isUser t) || kind t == Upcall || not possible = []
  | otherwise = [yields | not switching'] ++ [upcalls]
  where
    t = thread state a
    possible = case (ticks settings, code t) of
      (NoTicks, _) -> False
      (AtTickPoints, Perform TickPoint _) -> True
      (AtTickPoints, _) -> False
      (Everywhere, _) -> True
    switching' = case code t of
      Switch _ -> True
      _ -> False
    yields = ([Rule.Tick], onThread a inject state)
    inject u = u {code = yield, frames = BindFrame (Fun unused (code u)) : frames u}
    upcalls = upDequeue [Rule.Tick] h t (current state a) (onThread a (\u -> u {status = Woken}) state)
    yield = switching (\s -> Perform EnqueueAct [s] >>> Perform DequeueAct [s])
    unused = -1

-- | The transitions of a thread that runs.
threadSteps :: State -> Place -> Address -> [Transition]
threadSteps state place a = case code t of
  Return e -> [returns (evaluate e)]
  Throw e -> case evaluate e of
    Exception exn -> [raises exn]
    other -> error ("thrown: " ++ show other)
  Bind m f -> pureStep (push (BindFrame f) m)
  Catch m f -> [([Rule.EnterCatch], push (CatchFrame f (masking t)) m)]
  IfEqual e e' m n -> pureStep (continue a (if evaluate e == evaluate e' then m else n) state)
  Uncons e m y ys n -> case evaluate e of
    List [] -> pureStep (continue a m state)
    List (v : vs) -> pureStep (continue a (substitute ys (List vs) (substitute y v n)) state)
    other -> error ("no list: " ++ show other)
  Mask m body -> [([Rule.EnterMask], onThread a (\u -> u {masking = m}) (push (MaskFrame (masking t)) body))]
  Atomically body -> atomicSteps state place a body
  OrElse _ _ -> error "not in IO: OrElse"
  Switch f -> switchSteps state place a f
  NewSCont body ->
    let (b, state') = make t (\u -> u {status = Passive Waiting, kind = Plain}) body state
     in [([Rule.NewSCont], reply a (current state' b) state')]
  Fork body ->
    let (b, state') = make t (\u -> u {status = if isUser t then Woken else Floating, kind = Forked}) body state
     in [([Rule.Fork], reply a (ThreadId b) state')]
  SetDequeueAct f -> activations Rule.SetDequeueAct t {dequeue = Activation f}
  SetEnqueueAct f -> activations Rule.SetEnqueueAct t {enqueue = Activation f}
  NewThunk body ->
    let (x, state') = new state
     in pureStep (reply a (Thunk x) state' {thunks = Map.insert x (Suspended body) (thunks state')})
  Perform primitive args -> performs primitive (map evaluate args)
  where
    t = thread state a
    pureStep state' = [([Rule.PureStep], state')]
    push frame m = onThread a (\u -> u {code = m, frames = frame : frames u}) state
    pop change = onThread a (\u -> change u {frames = drop 1 (frames u)})

    returns v = case frames t of
      [] -> ends Returned
      BindFrame f : _ -> ([Rule.PureStep], pop (\u -> u {code = apply f v}) state)
      CatchFrame _ _ : _ -> ([Rule.IOCatch], pop id state)
      MaskFrame m : _ -> ([Rule.LeaveMask], pop (\u -> u {masking = m}) state)
      UpdateFrame x : _ -> updates x (Evaluated v)

    raises exn = case frames t of
      [] -> ends (Uncaught exn)
      BindFrame _ : _ -> ([Rule.PureStep], pop id state)
      CatchFrame f m : outer -> ([Rule.IOCatchExn], handle a f m exn outer state)
      -- The state of masking is restored by the handler's end.
      MaskFrame _ : _ -> ([Rule.PureStep], pop id state)
      UpdateFrame x : _ -> updates x (Suspended (Throw (Val (Exception exn))))

    -- A switch may have evaluated the thunk as well. The first value stays.
    updates x thunk = case thunks state Map.! x of
      Evaluated w -> ([Rule.UpdateThunk], pop (\u -> u {code = Return (Val w)}) state)
      _ -> ([Rule.UpdateThunk], pop id (update x thunk state))

    update x thunk s = s {thunks = Map.insert x thunk (thunks s)}

    ends how
      | a == mainThread = ([Rule.EndSCont], finish how state)
      | otherwise = case place of
        At h | kind t == Forked -> upDequeue [Rule.EndSCont] h t (current state a) (end a state)
        At h -> ([Rule.EndSCont], onHec h Idle (end a state))
        Outside -> ([Rule.EndSCont], end a state)

    -- A thread joins its scheduler when both activations are set. It needs the slot of the HEC that it is on.
    activations r u = case place of
      Outside
        | isUser u ->
          nub [([r], if hec == Idle then join' h u else throws HecInUse) | (h, hec) <- zip [0 ..] (hecs state)]
      _ -> [([r], reply a Unit (onThread a (const u) state))]

    join' h u = onHec h (Running a) (reply a Unit (onThread a (const u {status = OnHec h, ran = True}) state))

    throws exn = continue a (Throw (Val (Exception exn))) state

    performs primitive args = case (primitive, args) of
      (Output, [v]) -> [([Rule.Output], reply a Unit state {output = shown v : output state})]
      (NumHECs, []) -> pureStep (reply a (Int (length (hecs state))) state)
      (MyThreadId, []) -> pureStep (reply a (ThreadId a) state)
      (TickPoint, []) -> [([Rule.SafePoint], reply a Unit state)]
      (RunOnIdleHEC, [SCont b n]) -> case (idle state, Map.lookup b (threads state)) of
        ([], _) -> [([Rule.RunOnIdleHEC], throws NoIdleHEC)]
        (free, Just Thread {number = n', status = Passive _})
          | n == n' -> [([Rule.RunOnIdleHEC], claim b h (reply a Unit state)) | h <- free]
        _ -> [([Rule.NotPassive], throws SContRunning)]
      (SafeCall, [v]) -> case place of
        At h -> [([Rule.OCBlock], onHec h (Outcall a v) state)]
        Outside -> [block Rule.OCBlock place a (InCall v) state]
      (Force, [Thunk x]) -> case thunks state Map.! x of
        Evaluated v -> pureStep (reply a v state)
        Suspended body -> [([Rule.EnterThunk], update x (BlackHole a body) (push (UpdateFrame x) body))]
        BlackHole owner _
          | owner == a -> pureStep (throws NonTermination)
          | otherwise -> [block Rule.BlockBH place a (OnThunk x) state]
      (NewMVar, []) ->
        let (m, state') = new state
         in [([Rule.NewMVar], reply a (MVar m) state' {mvars = Map.insert m (Empty []) (mvars state')})]
      (TakeMVar, [MVar m]) -> case mvars state Map.! m of
        Full v [] -> [([Rule.TakeMVar], reply a v (fill m (Empty [])))]
        Full v (b : rest) -> case status (thread state b) of
          Blocked (OnMVar _ (Just v')) ->
            [([Rule.TakeMVar, Rule.ResumeMVar], reply a v (wake b (reply b Unit (fill m (Full v' rest)))))]
          other -> error ("waits to put: " ++ show other)
        Empty waiting -> [block Rule.BlockMVar place a (OnMVar m Nothing) (fill m (Empty (waiting ++ [a])))]
      (PutMVar, [MVar m, v]) -> case mvars state Map.! m of
        Empty [] -> [([Rule.PutMVar], reply a Unit (fill m (Full v [])))]
        Empty (b : rest) -> [([Rule.PutMVar, Rule.ResumeMVar], reply a Unit (wake b (reply b v (fill m (Empty rest)))))]
        Full v' waiting -> [block Rule.BlockMVar place a (OnMVar m (Just v)) (fill m (Full v' (waiting ++ [a])))]
      (ThrowTo, [ThreadId b, Exception exn]) -> throwing state place a b exn
      other -> error ("ill-typed or not in IO: " ++ show other)
    fill m contents = state {mvars = Map.insert m contents (mvars state)}

-- | HECs that run nothing.
idle :: State -> [Int]
idle state = [h | (h, Idle) <- zip [0 ..] (hecs state)]

-- | What 'Output' adds to the outcome.
shown :: V -> String
shown v = case v of
  Int n -> show n
  Exception exn -> show exn
  other -> error ("not for output: " ++ show other)

-- | The transactions that a thread may run: one for each HEC that it may be on, with that.
transactions :: Bool -> State -> Place -> Address -> Code -> [(Int, Done)]
transactions isSwitch state place a body = [(h, transaction (context h) body state) | h <- numbers]
  where
    numbers = case place of
      At h -> [h]
      Outside -> [0 .. length (hecs state) - 1]
    context h = Context {self = a, hecNumber = h, switches = isSwitch, upcall = kind (thread state a) == Upcall}

-- | [SHMP14, figures 7 and 10]: @atomically@. A tick that comes while the transaction evaluates a thunk stops the
-- thread there (§6.4), and the thunk is under evaluation meanwhile. So the evaluation may also come before the
-- transaction.
atomicSteps :: State -> Place -> Address -> Code -> [Transition]
atomicSteps state place a body =
  nub (concat [step done : ahead done | (_, done) <- transactions False state place a body])
  where
    ahead done = [([Rule.EnterThunk], onThread a (begin x) state) | x <- take 1 (reverse (evaluated done))]
    begin x t = t {code = Perform Force [Val (Thunk x)], frames = BindFrame (Fun (-1) (code t)) : frames t}
    step done = case result done of
      Value v -> so Rule.TAtomic done (commit (writeSet done) (reply a v (after done)))
      Raised exn -> so Rule.TThrow done (continue a (Throw (Val (Exception exn))) (undone state (after done)))
      Retried -> add done (block Rule.TRetryAtomic place a (OnTVars (Set.toList (readSet done))) state)
      BlackHoled x -> add done (block Rule.BlockBH place a (OnThunk x) state)
      Endless -> so Rule.TAtomic done (finish (Faulted RunsAway) state)
    so r done state' = (r : rules done, state')
    add done (rs, state') = (rs ++ rules done, state')

-- | [SHMP14, figures 8 and 10]: @switch@.
switchSteps :: State -> Place -> Address -> Fun Address -> [Transition]
switchSteps state place a f =
  nub (concat [map (add done) (step h done) | (h, done) <- transactions True state place a body])
  where
    t = thread state a
    body = apply f (current state a)
    add done (rs, state') = (rs ++ rules done, state')
    raised exn done = ([Rule.SwitchExn], continue a (Throw (Val (Exception exn))) (undone state (after done)))
    step h done = case result done of
      Value v -> commits h done v
      Raised exn
        | kind t == Upcall -> [fault Rule.UpRaised (ActivationRaised exn) state]
        | otherwise -> [raised exn done]
      Retried -> case place of
        At _ -> [([Rule.TRetrySwitch], onHec h (Sleeping a (Just (Set.toList (readSet done)))) state)]
        Outside -> [block Rule.TRetrySwitch place a (OnTVars (Set.toList (readSet done))) state]
      BlackHoled x -> error ("black hole not stolen: " ++ show x)
      Endless -> [fault Rule.SwitchExn RunsAway state]
    commits h done v = case v of
      SCont b n
        | b == a && n == number t ->
          [([Rule.SwitchSelf], published done (onThread a (\u -> u {status = status t}) (reply a Unit (after done))))]
        | otherwise -> case Map.lookup b (threads (after done)) of
          Just Thread {number = n', status = there} | n == n' -> case there of
            Passive _ -> [inSlot h done ([Rule.Switch], published done (claim b h (leave done)))]
            _ -> [fault Rule.SwitchRunning ChoseRunning state]
          _
            | kind t == Upcall -> [([Rule.SwitchStale], published done (after done))]
            | otherwise -> [inSlot h done (stale done h)]
      NoSCont -> [([Rule.SwitchBuiltIn], published done (vacate (leave done)))]
      other -> error ("not an SCont: " ++ show other)
    stale done h = upDequeue [Rule.SwitchStale] h t (current state a) (published done (leave done))
    published done = commit (writeSet done)
    -- The chosen one runs in the slot of the HEC.
    inSlot h done taken = case place of
      Outside | h `notElem` idle state -> raised HecInUse done
      _ -> taken
    vacate = case place of
      At h -> onHec h Idle
      Outside -> id
    leave done
      | kind t == Upcall = end a (after done)
      | otherwise = onThread a rests (reply a Unit (after done))
    rests u = u {status = if status u == Passive Ready then Passive Ready else Passive Waiting, ran = True}
