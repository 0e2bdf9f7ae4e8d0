-- Random programs for Hecaton.Substrate.Model, as lists of actions on a few shared objects.
module ModelGenerator
  ( Sample (..),
    Action (..),
    InTx (..),
    Before (..),
    compile,
    anySample,
    plainSample,
    cooperativeSample,
    shrinkSample,
    settingsOf,
  )
where

import Hecaton.Substrate.Model
import Hecaton.Substrate.Model.State (Code)
import Hecaton.Substrate.Model.Term
import ModelPrograms
import Test.QuickCheck

-- | A program: its scheduler, if not the built-in one, and what its threads and @main@ do.
data Sample = Sample
  { hecsOf :: Int,
    policyOf :: Maybe Policy,
    -- | Whether the enqueue activation raises an exception.
    faulty :: Bool,
    -- | Whether the thunk has a handler around its evaluation.
    guarded :: Bool,
    others :: [[Action]],
    mainActions :: [Action]
  }
  deriving (Eq, Show)

-- | What a thread does. Numbers choose among the objects there are.
data Action
  = Say Int
  | Tx [InTx]
  | Put Int
  | Take
  | Yield
  | Call Int
  | ForceIt
  | Tick
  | Kill Int Int
  | Raise Int
  | Catching [Action]
  | Masked [Action]
  | Unmasking [Action]
  | -- | A switch to oneself.
    SwitchSelf Before [InTx]
  | -- | Leaves the own SCont in the list of parked ones, and switches away.
    Park
  | -- | Leaves the own SCont there, and goes on.
    Expose
  | -- | Enqueues a parked one, if there is any.
    Unpark
  | -- | Switches to a parked one, if there is any.
    SwitchParked Before
  | -- | Sets and reads the aux field of a parked one.
    MarkParked Int
  | -- | A new SCont, marked and given to the scheduler.
    Spawn [Action]
  | -- | A new SCont, started on an idle HEC.
    SpawnIdle [Action]
  | -- | A new SCont, whose dequeue activation is asked for the next.
    AskNew [Action]
  | WhichHEC
  deriving (Eq, Show)

-- | What a transaction does.
data InTx
  = Write Int Int
  | Add Int Int
  | Await Int
  | Abort Int
  | Again
  | Handle [InTx]
  | Choose [InTx] [InTx]
  | Fresh Int
  | ForceInTx
  deriving (Eq, Show)

-- | What a switch does first with the own SCont.
data Before = Nothing' | Enqueue | Mark Int
  deriving (Eq, Show)

data Objects = Objects
  { variables :: [E],
    mvar :: E,
    thunk :: E,
    parked :: E,
    known :: [E]
  }

-- | What a sample is run with.
settingsOf :: Sample -> Settings
settingsOf s = Settings {hecCount = hecsOf s, ticks = AtTickPoints, stateLimit = 500}

-- | The program of a sample.
compile :: Sample -> Code
compile s = maybe body (\policy -> scheduler policy (hecsOf s) (const (breaks body))) (policyOf s)
  where
    breaks rest
      | faulty s = SetEnqueueAct (lambda (const (throw 9))) >>> rest
      | otherwise = rest
    body =
      newTVarIO (int 0) >>>= \v ->
        newTVarIO (int 0) >>>= \w ->
          newMVar >>>= \m ->
            NewThunk (handled (tick >>> Return (int 7))) >>>= \x ->
              newTVarIO nil >>>= \q ->
                Perform MyThreadId [] >>>= \me ->
                  forks (others s) Objects {variables = [v, w], mvar = m, thunk = x, parked = q, known = [me]}
    handled m = if guarded s then catching m (const (Return (int 8))) else m
    forks [] objects = actions objects (mainActions s)
    forks (a : rest) objects =
      Fork (actions objects a) >>>= \t -> forks rest objects {known = t : known objects}

actions :: Objects -> [Action] -> Code
actions objects as = case as of
  [] -> Return unit
  _ -> foldr1 (>>>) (map (action objects) as)

action :: Objects -> Action -> Code
action objects a = case a of
  Say n -> say n
  Tx ts -> Atomically (inTxs objects ts)
  Put n -> putMVar (mvar objects) (int n)
  Take -> takeMVar (mvar objects) >>>= out
  Yield -> yield
  Call n -> safeCall (int n) >>>= out
  ForceIt -> force (thunk objects) >>>= out
  Tick -> tick
  Kill t n -> throwTo (pick t (known objects)) n
  Raise n -> throw n
  Catching as -> catching (actions objects as) out
  Masked as -> Mask MaskedInterruptible (actions objects as)
  Unmasking as -> Mask Unmasked (actions objects as)
  SwitchSelf before ts -> switching (\s -> first before s >>> inTxs objects ts >>> Return s)
  Park -> switching (\s -> stash s >>> dequeueAct s)
  Expose -> switching (\s -> stash s >>> Return s)
  Unpark -> Atomically (withParked (Return unit) enqueueAct)
  SwitchParked before -> switching (\s -> first before s >>> withParked (Return s) Return)
  MarkParked n ->
    Atomically (withParked (Return nil) (\s -> setAux s (int n) >>> getAux s)) >>>= \l ->
      uncons l (Return unit) (const . out)
  Spawn as ->
    NewSCont (actions objects as >>> switching dequeueAct) >>>= \s ->
      Atomically (setAux s (int 1) >>> getAux s >>> enqueueAct s)
  SpawnIdle as -> NewSCont (actions objects as) >>>= runOnIdleHEC
  AskNew as ->
    NewSCont (actions objects as >>> switching dequeueAct) >>>= \s ->
      Atomically (enqueueAct s) >>> switching (\me -> enqueueAct me >>> dequeueAct s)
  WhichHEC -> Atomically (Perform CurrentHEC []) >>>= out
  where
    first before s = case before of
      Nothing' -> Return unit
      Enqueue -> enqueueAct s
      Mark n -> setAux s (int n) >>> getAux s >>> Return unit
    stash s = readTVar (parked objects) >>>= \l -> writeTVar (parked objects) (Apply Cons [s, l])
    withParked none f =
      readTVar (parked objects) >>>= \l -> uncons l none (\s rest -> writeTVar (parked objects) rest >>> f s)

inTxs :: Objects -> [InTx] -> Code
inTxs objects ts = case ts of
  [] -> Return unit
  _ -> foldr1 (>>>) (map (inTx objects) ts)

inTx :: Objects -> InTx -> Code
inTx objects t = case t of
  Write v n -> writeTVar (variable v) (int n)
  Add v n -> readTVar (variable v) >>>= \x -> writeTVar (variable v) (Apply Plus [x, int n])
  Await v -> readTVar (variable v) >>>= \x -> IfEqual x (int 0) retry (Return unit)
  Abort n -> throw n
  Again -> retry
  Handle ts -> catching (inTxs objects ts) (const (Return unit))
  Choose ts us -> OrElse (inTxs objects ts) (inTxs objects us)
  Fresh n -> newTVar (int n) >>> Return unit
  ForceInTx -> force (thunk objects) >>> Return unit
  where
    variable v = pick v (variables objects)

pick :: Int -> [b] -> b
pick n xs = xs !! (n `mod` length xs)

-- | Any program.
anySample :: Gen Sample
anySample = do
  policy <- frequency [(1, pure Nothing), (3, Just <$> elements [RoundRobin, Stack, Marking])]
  hecs <- frequency [(2, pure 1), (1, pure 2)]
  broken' <- frequency [(15, pure False), (1, pure True)]
  threads' <- choose (1, 2)
  Sample hecs policy (broken' && policy /= Nothing) <$> arbitrary
    <*> vectorOf threads' script
    <*> script
  where
    script = concat <$> few 3 (frequency [(8, pure <$> someAction 2), (1, elements idioms)])

-- | Sequences that take rules which single actions seldom take.
idioms :: [[Action]]
idioms =
  [ [Expose, Yield, Unpark],
    [Expose, Yield, SwitchParked Enqueue],
    [Tx [Handle [Write 0 1, Abort 1]], Tx [Await 0]],
    [Tx [Await 1], Say 3]
  ]

-- | A program that does not use the substrate itself.
plainSample :: Gen Sample
plainSample = do
  threads' <- choose (1, 2)
  Sample 1 Nothing False <$> arbitrary <*> vectorOf threads' (few 3 (plainAction 2)) <*> few 3 (plainAction 2)

-- | A program with one HEC whose threads run until they switch.
cooperativeSample :: Gen Sample
cooperativeSample = do
  policy <- elements [RoundRobin, Stack, Marking]
  (\thunk' -> Sample 1 (Just policy) False thunk' [] . concat) <$> arbitrary <*> few 7 script
  where
    script = frequency [(6, pure <$> action' (2 :: Int)), (1, elements idioms)]
    action' depth =
      frequency $
        [ (4, Say <$> number'),
          (2, Tx <$> few 2 (someInTx 2)),
          (4, pure Yield)
        ]
          ++ substrate 0
          ++ [(1, Catching <$> elements caught) | depth > 0]
          ++ [(4, Spawn <$> few 3 (action' (depth - 1))) | depth > 0]
          ++ [(1, AskNew <$> few 2 (action' (depth - 1))) | depth > 0]
          ++ [(1, Catching <$> few 2 (action' (depth - 1))) | depth > 0]
          ++ [(1, Masked <$> few 2 (action' (depth - 1))) | depth > 0]
    caught =
      [ [Raise 1],
        [SwitchSelf Enqueue [Write 0 3, Abort 2]],
        [Expose, Unpark],
        [Tx [Handle [Write 0 1, Abort 1]]]
      ]

few :: Int -> Gen b -> Gen [b]
few most one = choose (1, most) >>= flip vectorOf one

plainAction, someAction :: Int -> Gen Action
plainAction depth = frequency (ordinary plainAction depth)
someAction depth = frequency (ordinary someAction depth ++ substrate depth)

ordinary :: (Int -> Gen Action) -> Int -> [(Int, Gen Action)]
ordinary inner depth =
  [ (4, Say <$> number'),
    (4, Tx <$> few 2 (someInTx 2)),
    (3, Put <$> number'),
    (3, pure Take),
    (2, Call <$> number'),
    (4, pure ForceIt),
    (2, pure Tick),
    (4, Kill <$> choose (0, 2) <*> number'),
    (1, Raise <$> number')
  ]
    ++ [ (2, f <$> few 2 (inner (depth - 1)))
         | depth > 0,
           f <- [Catching, Masked . pure . Catching, Masked]
       ]
    -- A thread that waits with exceptions masked.
    ++ [(4, pure (Masked [Catching [Take]])) | depth > 0]

substrate :: Int -> [(Int, Gen Action)]
substrate depth =
  [ (4, pure Yield),
    (2, SwitchSelf <$> before <*> few 2 (someInTx 1)),
    (1, pure (SwitchSelf Nothing' [ForceInTx])),
    (2, pure Park),
    (1, pure Expose),
    (2, pure Unpark),
    (2, SwitchParked <$> before),
    (1, MarkParked <$> number'),
    (1, pure WhichHEC)
  ]
    ++ [ (1, f <$> few 2 (someAction 0))
         | depth > 0,
           f <- [Spawn, SpawnIdle, AskNew, Unmasking]
       ]
  where
    before = oneof [pure Nothing', pure Enqueue, Mark <$> number']

someInTx :: Int -> Gen InTx
someInTx depth =
  frequency $
    [ (3, Write <$> choose (0, 1) <*> number'),
      (2, Add <$> choose (0, 1) <*> number'),
      (3, Await <$> choose (0, 1)),
      (1, Abort <$> number'),
      (1, Fresh <$> number'),
      (1, pure ForceInTx)
    ]
      ++ concat
        [ [ (1, Handle <$> few 2 (someInTx (depth - 1))),
            (1, Choose <$> few 2 (someInTx (depth - 1)) <*> few 2 (someInTx (depth - 1)))
          ]
          | depth > 0
        ]

number' :: Gen Int
number' = choose (1, 3)

-- | Smaller programs: with fewer HECs, threads and actions.
shrinkSample :: Sample -> [Sample]
shrinkSample s =
  [s {hecsOf = 1} | hecsOf s > 1]
    ++ [s {guarded = False} | guarded s]
    ++ [s {others = o} | o <- shrinkList (shrinkList shrinkAction) (others s)]
    ++ [s {mainActions = m} | m <- shrinkList shrinkAction (mainActions s)]

shrinkAction :: Action -> [Action]
shrinkAction a = case a of
  Tx ts -> Tx <$> shrinkList (const []) ts
  Catching as -> as ++ (Catching <$> shrinkList shrinkAction as)
  Masked as -> as ++ (Masked <$> shrinkList shrinkAction as)
  Unmasking as -> as ++ (Unmasking <$> shrinkList shrinkAction as)
  Spawn as -> Spawn <$> shrinkList shrinkAction as
  SpawnIdle as -> SpawnIdle <$> shrinkList shrinkAction as
  AskNew as -> AskNew <$> shrinkList shrinkAction as
  SwitchSelf before ts -> SwitchSelf before <$> shrinkList (const []) ts
  Say _ -> []
  _ -> [Say 1]
