{-# LANGUAGE DeriveTraversable #-}

-- | The language of the model: first-order terms for 'IO', 'STM' and pure computations.
--
-- [SHMP14, figure 5] has a λ-calculus with call-by-need. This language keeps what can be told apart from outside: the
-- monads, the operations of the substrate and of the runtime, and explicit thunks. A function ('Fun') occurs only where
-- an operation takes one. The same constructors serve for 'IO' and 'STM'; a term is one or the other by its place.
--
-- A term is run by substitution, so a state holds no environments, and a variable that is no longer used leaves nothing
-- behind. All types have the addresses of the heap as a parameter: 'fmap' renames them, and 'foldMap' collects them.
module Hecaton.Substrate.Model.Term
  ( -- * Values
    Value (..),
    Exn (..),

    -- * Expressions
    Expr (..),
    Operator (..),
    evaluate,

    -- * Terms
    Name,
    Fun (..),
    Term (..),
    Primitive (..),
    Masking (..),
    apply,
    substitute,

    -- * Building terms
    lambda,
    (>>>=),
    (>>>),
    catching,
    switching,
    uncons,
    int,
    unit,
    nil,
  )
where

-- | A value; @a@ is the type of addresses.
data Value a
  = Unit
  | Int Int
  | List [Value a]
  | Exception Exn
  | TVar a
  | MVar a
  | -- | A thread, and which of its one-shot continuations this is. The second address is made when the thread is
    -- claimed, and is compared only.
    SCont a a
  | ThreadId a
  | Thunk a
  | -- | The answer of the built-in dequeue activation: there is nothing to switch to.
    NoSCont
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | What can be thrown.
data Exn
  = -- | An exception of the program.
    User Int
  | -- | An operation on an SCont that is not passive.
    SContRunning
  | -- | 'RunOnIdleHEC' without an idle HEC.
    NoIdleHEC
  | -- | A built-in thread would need the slot of a HEC, and each is taken.
    HecInUse
  | -- | A thunk depends on itself.
    NonTermination
  deriving (Eq, Ord, Show)

-- | Names of variables.
type Name = Int

-- | An expression of values. It has no effects and always ends.
data Expr a
  = Var Name
  | Val (Value a)
  | Apply Operator [Expr a]
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | What expressions are made with.
data Operator
  = -- | Of two numbers.
    Plus
  | -- | Head and tail.
    Cons
  | -- | A list and a new last element.
    Snoc
  | -- | The thread of an SCont.
    ThreadOf
  deriving (Eq, Ord, Show, Enum, Bounded)

-- | The value of an expression without variables.
evaluate :: Show a => Expr a -> Value a
evaluate expr = case expr of
  Val v -> v
  Apply operator args -> case (operator, map evaluate args) of
    (Plus, [Int m, Int n]) -> Int (m + n)
    (Cons, [x, List xs]) -> List (x : xs)
    (Snoc, [List xs, x]) -> List (xs ++ [x])
    (ThreadOf, [SCont thread _]) -> ThreadId thread
    other -> error ("ill-typed expression: " ++ show other)
  Var x -> error ("free variable: " ++ show x)

-- | A function: its parameter and its body.
data Fun a = Fun Name (Term a)
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | A computation.
data Term a
  = Return (Expr a)
  | Bind (Term a) (Fun a)
  | Throw (Expr a)
  | -- | @catch@ or @catchSTM@, for all exceptions.
    Catch (Term a) (Fun a)
  | -- | Which of two, by whether two values are equal.
    IfEqual (Expr a) (Expr a) (Term a) (Term a)
  | -- | The term for an empty list; names for head and tail, and the term for other lists.
    Uncons (Expr a) (Term a) Name Name (Term a)
  | -- | Runs a term with exceptions masked so, in 'IO'.
    Mask Masking (Term a)
  | -- | A transaction, in 'IO'.
    Atomically (Term a)
  | -- | In 'STM'.
    OrElse (Term a) (Term a)
  | -- | In 'IO'; the body is in 'STM'.
    Switch (Fun a)
  | NewSCont (Term a)
  | -- | @forkIO@.
    Fork (Term a)
  | SetDequeueAct (Fun a)
  | SetEnqueueAct (Fun a)
  | -- | A thunk. Its body is a pure computation: 'Return', 'Bind', 'Throw', 'Catch', 'IfEqual', 'Uncons', 'Force',
    -- 'TickPoint'.
    NewThunk (Term a)
  | Perform Primitive [Expr a]
  deriving (Eq, Ord, Show, Functor, Foldable, Traversable)

-- | Operations that take values only.
data Primitive
  = -- | Of its first value. In 'STM'; also 'ReadTVar', 'WriteTVar', 'Retry'.
    NewTVar
  | ReadTVar
  | WriteTVar
  | Retry
  | -- | An empty one. In 'IO'; also 'TakeMVar', 'PutMVar'.
    NewMVar
  | TakeMVar
  | PutMVar
  | -- | A list of what 'SetAux' has stored: empty at first. In 'STM'; also 'SetAux', 'DequeueAct', 'EnqueueAct' and
    -- 'CurrentHEC'.
    GetAux
  | SetAux
  | DequeueAct
  | EnqueueAct
  | CurrentHEC
  | -- | In 'IO'; also 'RunOnIdleHEC'.
    NumHECs
  | RunOnIdleHEC
  | -- | Of a thread and an exception. In 'IO'; also 'MyThreadId'.
    ThrowTo
  | MyThreadId
  | -- | A safe foreign call, which returns its argument. In 'IO'.
    SafeCall
  | -- | A safe point: the place where a tick can stop a thread. In 'IO' and in thunks.
    TickPoint
  | -- | The value of a thunk. Everywhere.
    Force
  | -- | Appends a number or an exception to the outcome. In 'IO'.
    Output
  deriving (Eq, Ord, Show, Enum, Bounded)

-- | Whether asynchronous exceptions are held off.
data Masking = Unmasked | MaskedInterruptible | MaskedUninterruptible
  deriving (Eq, Ord, Show, Enum, Bounded)

-- | The body of a function for an argument.
apply :: Fun a -> Value a -> Term a
apply (Fun x body) v = substitute x v body

-- | Puts a value in place of a variable. Values have no variables, so none is captured.
substitute :: Name -> Value a -> Term a -> Term a
substitute x v = term
  where
    term t = case t of
      Return e -> Return (expr e)
      Bind m f -> Bind (term m) (fun f)
      Throw e -> Throw (expr e)
      Catch m f -> Catch (term m) (fun f)
      IfEqual e e' m n -> IfEqual (expr e) (expr e') (term m) (term n)
      Uncons e m y ys n -> Uncons (expr e) (term m) y ys (if x == y || x == ys then n else term n)
      Mask masking m -> Mask masking (term m)
      Atomically m -> Atomically (term m)
      OrElse m n -> OrElse (term m) (term n)
      Switch f -> Switch (fun f)
      NewSCont m -> NewSCont (term m)
      Fork m -> Fork (term m)
      SetDequeueAct f -> SetDequeueAct (fun f)
      SetEnqueueAct f -> SetEnqueueAct (fun f)
      NewThunk m -> NewThunk (term m)
      Perform primitive args -> Perform primitive (map expr args)
    fun f@(Fun y body)
      | x == y = f
      | otherwise = Fun y (term body)
    expr e = case e of
      Var y | x == y -> Val v
      Apply operator args -> Apply operator (map expr args)
      _ -> e

-- | A name above all those bound in a term. It does not look at variables, so 'lambda' may use it of its own body.
above :: Term a -> Name
above t = case t of
  Bind m f -> max (above m) (aboveFun f)
  Catch m f -> max (above m) (aboveFun f)
  IfEqual _ _ m n -> max (above m) (above n)
  Uncons _ m y ys n -> maximum [above m, y + 1, ys + 1, above n]
  Mask _ m -> above m
  Atomically m -> above m
  OrElse m n -> max (above m) (above n)
  Switch f -> aboveFun f
  NewSCont m -> above m
  Fork m -> above m
  SetDequeueAct f -> aboveFun f
  SetEnqueueAct f -> aboveFun f
  NewThunk m -> above m
  Return _ -> 0
  Throw _ -> 0
  Perform _ _ -> 0
  where
    -- A parameter is above all names of its body.
    aboveFun (Fun y _) = y + 1

-- | A function of the language from one of Haskell, which must not inspect its argument.
lambda :: (Expr a -> Term a) -> Fun a
lambda f = Fun x body
  where
    body = f (Var x)
    x = above body

infixl 1 >>>=, >>>

-- | @>>=@.
(>>>=) :: Term a -> (Expr a -> Term a) -> Term a
m >>>= f = Bind m (lambda f)

-- | @>>@.
(>>>) :: Term a -> Term a -> Term a
m >>> n = m >>>= const n

-- | @catch@.
catching :: Term a -> (Expr a -> Term a) -> Term a
catching m f = Catch m (lambda f)

-- | @switch@.
switching :: (Expr a -> Term a) -> Term a
switching = Switch . lambda

-- | The cases of a list.
uncons :: Expr a -> Term a -> (Expr a -> Expr a -> Term a) -> Term a
uncons list empty f = Uncons list empty x (x + 1) body
  where
    body = f (Var x) (Var (x + 1))
    x = above body

-- | A number.
int :: Int -> Expr a
int = Val . Int

-- | @()@.
unit :: Expr a
unit = Val Unit

-- | @[]@.
nil :: Expr a
nil = Val (List [])
