-- | STM transitions ([SHMP14, §5.3, figures 7 and 15]): a transaction from its beginning to its result.
--
-- A transaction is one transition of the program, so it is run at once here, and says by which rules. Nothing in it
-- depends on a choice. Thunks are evaluated in place; one that another thread evaluates ends an ordinary transaction
-- with 'BlackHoled', as if the thread had blocked just before it, and is stolen in a switch or upcall ([SHMP14, §6.5]).
module Hecaton.Substrate.Model.Transaction
  ( Context (..),
    Result (..),
    Done (..),
    transaction,
    undone,
  )
where

import qualified Data.Map.Strict as Map
import Data.Set (Set)
import qualified Data.Set as Set
import Hecaton.Substrate.Model.Rule (Rule)
import qualified Hecaton.Substrate.Model.Rule as Rule
import Hecaton.Substrate.Model.State
import Hecaton.Substrate.Model.Term

-- | By whom a transaction is run.
data Context = Context
  { self :: Address,
    -- | The number of the HEC.
    hecNumber :: Int,
    -- | Whether it is that of a @switch@ or an upcall.
    switches :: Bool,
    -- | Whether it belongs to an upcall, which may use the thread that it was made for wherever that is by now.
    upcall :: Bool
  }

-- | The result of a transaction.
data Result
  = Value V
  | Raised Exn
  | Retried
  | -- | It needs this thunk, which another thread evaluates.
    BlackHoled Address
  | -- | It did not end within 'most' steps.
    Endless

-- | A transaction that has ended.
data Done = Done
  { result :: Result,
    -- | The state with its effects.
    after :: State,
    -- | The rules taken, in order.
    rules :: [Rule],
    -- | The TVars read and those written.
    readSet :: Set Address,
    writeSet :: Set Address,
    -- | Thunks that it has evaluated to a value, last first.
    evaluated :: [Address]
  }

-- | How many steps a transaction may take.
most :: Int
most = 2000

data Tx = Tx
  { world :: State,
    -- | Last first.
    taken :: [Rule],
    hasRead :: Set Address,
    hasWritten :: Set Address,
    hasEvaluated :: [Address],
    fuel :: Int
  }

-- | Runs a transaction.
transaction :: Context -> Code -> State -> Done
transaction context body state =
  Done
    { result = outcome,
      after = world end,
      rules = reverse (taken end),
      readSet = hasRead end,
      writeSet = hasWritten end,
      evaluated = hasEvaluated end
    }
  where
    (outcome, end) = run context body (Tx state [] Set.empty Set.empty [] most)

-- | The state before a transaction with the TVars that the transaction has made, to which its exception may refer.
undone :: State -> State -> State
undone before end = before {tvars = Map.union (tvars before) (tvars end), fresh = fresh end}

run :: Context -> Code -> Tx -> (Result, Tx)
run context t tx0
  | fuel tx0 == 0 = (Endless, tx0)
  | otherwise = case t of
    Return e -> (Value (evaluate e), tx)
    Throw e -> case evaluate e of
      Exception exn -> (Raised exn, tx)
      other -> error ("thrown: " ++ show other)
    Bind m f -> case run context m tx of
      (Value v, tx') -> run context (apply f v) (rule Rule.PureStep tx')
      other -> other
    IfEqual e e' m n -> run context (if evaluate e == evaluate e' then m else n) tx
    Uncons e m y ys n -> case evaluate e of
      List [] -> run context m tx
      List (v : vs) -> run context (substitute ys (List vs) (substitute y v n)) tx
      other -> error ("no list: " ++ show other)
    Catch m f -> case run context m tx of
      (Value v, tx') -> (Value v, rule Rule.TCatch tx')
      (Raised exn, tx') -> run context (apply f (Exception exn)) (rule Rule.TCExn (undo tx tx'))
      (Retried, tx') -> (Retried, rule Rule.TCRetry tx')
      other -> other
    OrElse m n -> case run context m tx of
      (Retried, tx') -> run context n (rule Rule.TOrElseSecond (undo tx tx'))
      (outcome, tx') -> (outcome, rule Rule.TOrElseFirst tx')
    Perform primitive args -> perform context primitive (map evaluate args) tx
    other -> error ("not in STM: " ++ show other)
  where
    tx = tx0 {fuel = fuel tx0 - 1}

rule :: Rule -> Tx -> Tx
rule r tx = tx {taken = r : taken tx}

-- | Undoes the effects since the first of two points. What was read stays read, so that a blocked transaction wakes up.
undo :: Tx -> Tx -> Tx
undo before end = end {world = undone (world before) (world end), hasWritten = hasWritten before}

perform :: Context -> Primitive -> [V] -> Tx -> (Result, Tx)
perform context primitive args tx = case (primitive, args) of
  (NewTVar, [v]) ->
    let (a, state') = new state
     in (Value (TVar a), rule Rule.TNew tx {world = state' {tvars = Map.insert a v (tvars state')}})
  (ReadTVar, [TVar a]) -> (Value (tvars state Map.! a), rule Rule.TRead (reads' a tx))
  (WriteTVar, [TVar a, v]) -> (Value Unit, rule Rule.TWrite (write a v tx))
  (Retry, []) -> (Retried, tx)
  (CurrentHEC, []) -> (Value (Int (hecNumber context)), tx)
  (NumHECs, []) -> (Value (Int (length (hecs state))), tx)
  (GetAux, [SCont a _]) -> case Map.lookup a (threads state) of
    Nothing -> (Value (List []), rule Rule.GetAuxOther tx)
    Just t ->
      let stored = case tvars state Map.! aux t of
            Unit -> []
            v -> [v]
       in (Value (List stored), rule (own a Rule.GetAuxSelf Rule.GetAuxOther) (reads' (aux t) tx))
  (SetAux, [SCont a _, v])
    -- The thread of an upcall may have ended by then.
    | upcall context && Map.notMember a (threads state) -> (Value Unit, rule Rule.SetAuxOther tx)
    | otherwise -> ifPassive a $ \t ->
      (Value Unit, rule (own a Rule.SetAuxSelf Rule.SetAuxOther) (write (aux t) v tx))
  (DequeueAct, [s@(SCont a _)]) -> ifPassive a $ \t ->
    let tx' = rule (own a Rule.InvokeDequeueActSelf Rule.InvokeDequeueActOther) tx
     in case dequeue t of
          BuiltIn -> (Value NoSCont, tx')
          Activation f -> run context (apply f s) tx'
  (EnqueueAct, [s@(SCont a n)])
    | fmap number (Map.lookup a (threads state)) /= Just n -> (Value Unit, rule Rule.EnqueueStale tx)
    | a == self context && not (switches context) -> notPassive
    | otherwise -> case status (thread state a) of
      Passive _ -> enqueueIt Rule.InvokeEnqueueActOther a s
      _ | a == self context -> enqueueIt Rule.InvokeEnqueueActSelf a s
      _ -> notPassive
  (Force, [Thunk a]) -> force context a tx
  (TickPoint, []) -> (Value Unit, tx)
  other -> error ("ill-typed or not in STM: " ++ show other)
  where
    state = world tx
    reads' a tx' = tx' {hasRead = Set.insert a (hasRead tx')}
    write a v tx' =
      let state' = world tx'
       in tx' {world = state' {tvars = Map.insert a v (tvars state')}, hasWritten = Set.insert a (hasWritten tx')}
    own a r r'
      | a == self context = r
      | otherwise = r'
    notPassive = (Raised SContRunning, rule Rule.NotPassive tx)
    -- The thread, if it is passive or the own one.
    ifPassive a go = case Map.lookup a (threads state) of
      Just t | a == self context || upcall context || isPassive t -> go t
      _ -> notPassive
    isPassive t = case status t of
      Passive _ -> True
      _ -> False
    -- For the own thread in a switch this stands for the status that the commit will give it.
    enqueueIt r a s =
      let tx' = rule r tx {world = onThread a (\t -> t {status = Passive Ready}) state}
       in case enqueue (thread state a) of
            BuiltIn -> (Value Unit, tx')
            Activation f -> run context (apply f s) tx'

-- | The value of a thunk, evaluated in place.
force :: Context -> Address -> Tx -> (Result, Tx)
force context a tx = case thunks (world tx) Map.! a of
  Evaluated v -> (Value v, tx)
  Suspended body -> evaluates (rule Rule.EnterThunk tx) body
  BlackHole owner body
    | owner == self context -> (Raised NonTermination, tx)
    | switches context -> evaluates (rule Rule.StealBH tx) body
    | otherwise -> (BlackHoled a, tx)
  where
    evaluates tx' body = case run context body (update (BlackHole (self context) body) tx') of
      (Value v, end) ->
        (Value v, rule Rule.UpdateThunk (update (Evaluated v) end {hasEvaluated = a : hasEvaluated end}))
      (Raised exn, end) -> (Raised exn, update (Suspended (Throw (Val (Exception exn)))) end)
      other -> other
    update thunk tx' =
      let state = world tx'
       in tx' {world = state {thunks = Map.insert a thunk (thunks state)}}
