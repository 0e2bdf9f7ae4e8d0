-- Prints terms of Hecaton.Substrate.Model as Haskell programs over Hecaton.Substrate.
module ModelHaskell
  ( haskell,
    Threads (..),
    modulePrefix,
  )
where

import Hecaton.Substrate.Model.State (Code)
import Hecaton.Substrate.Model.Term

-- | In which monad a term is, or that it is a pure expression.
data Sort = InIO | InSTM | Pure
  deriving (Eq)

-- | The definition of a program as an action with this name.
haskell :: String -> Code -> String
haskell name program = name ++ " :: IO ()\n" ++ name ++ " = void $\n  " ++ term InIO program ++ "\n"

-- | What the threads and the MVars of a program are.
data Threads
  = -- | The runtime's.
    OfRuntime
  | -- | Threads of the scheduler of the package in @forking@, and the package's MVars.
    OfLibrary
  deriving (Eq)

-- | The beginning of a module of programs: imports, and what the programs are written with.
--
-- 'ending' runs one, and prints what it has output and how it ended. An exception that comes later ends the process.
-- Output goes to a list without a lock, because a lock would make threads block. Exceptions are shown as the model
-- shows them. A tick point, or a foreign call, may take longer than a time slice or not: 'ending' has a seed for that.
modulePrefix :: Threads -> String -> String
modulePrefix threads name =
  unlines $
    [ "{-# LANGUAGE BangPatterns #-}",
      "{-# LANGUAGE ForeignFunctionInterface #-}",
      "",
      "module " ++ name ++ " where",
      "",
      "import Control.Concurrent" ++ hiding "MVar, forkIO, newEmptyMVar, putMVar, takeMVar",
      "import Control.Exception",
      "import Control.Monad (void)",
      "import Data.Dynamic (fromDynamic, toDyn)",
      "import Data.IORef",
      "import Data.Maybe (maybeToList)",
      "import GHC.Conc" ++ hiding "forkIO",
      "import GHC.IO (unsafeDupablePerformIO, unsafeUnmask)",
      "import Hecaton.Substrate",
      if threads == OfLibrary then "import qualified GHC.Conc\nimport Hecaton.MVar" else "",
      "import System.IO.Unsafe (unsafePerformIO)",
      "",
      "newtype User = User Int deriving (Show)",
      "",
      "instance Exception User",
      "",
      "class Shown a where shown :: a -> String",
      "",
      "instance Shown Int where shown = show",
      "",
      "instance Shown SomeException where shown = show",
      "",
      "said :: IORef [String]",
      "said = unsafePerformIO (newIORef [])",
      "{-# NOINLINE said #-}",
      "",
      "output :: Shown a => a -> IO ()",
      "output a = atomicModifyIORef' said (\\so -> (shown a : so, ()))",
      "",
      "chances :: IORef Int",
      "chances = unsafePerformIO (newIORef 0)",
      "{-# NOINLINE chances #-}",
      "",
      "-- A number below 4 that the seed decides; 0 always for the seed 0.",
      "chance :: IO Int",
      "chance = atomicModifyIORef' chances $ \\n ->",
      "  let m = n * 1103515245 `mod` 2147483647 in (m, m `div` 65536 `mod` 4)",
      "",
      "ending :: Int -> IO () -> IO ()",
      "ending seed program = uninterruptibleMask $ \\restore -> do",
      "  writeIORef chances seed",
      "  how <- try (restore program)",
      "  so <- readIORef said",
      "  putStrLn (unwords (reverse (either shown (const \"Returned\") (how :: Either SomeException ()) : so)))",
      "",
      "data Lazy a = Lazy a",
      "",
      "newThunk :: a -> IO (Lazy a)",
      "newThunk x = pure (Lazy x)",
      "{-# NOINLINE newThunk #-}",
      "",
      "unlazy :: Lazy a -> a",
      "unlazy (Lazy x) = x",
      "",
      "forceIO :: Lazy a -> IO a",
      "forceIO (Lazy x) = evaluate x",
      "",
      "forceSTM :: Lazy a -> STM a",
      "forceSTM (Lazy x) = x `seq` pure x",
      "",
      "tickPoint :: IO ()",
      "tickPoint = chance >>= \\c -> case c of",
      "  1 -> GHC.Conc.yield",
      "  2 -> evaluate (spin 100000)",
      "  _ -> pure ()",
      "",
      "catchInThunk :: a -> (SomeException -> a) -> a",
      "catchInThunk a f = unsafeDupablePerformIO (catch (evaluate a) (evaluate . f))",
      "{-# NOINLINE catchInThunk #-}",
      "",
      "tickPointIn :: () -> ()",
      "tickPointIn () = unsafeDupablePerformIO tickPoint",
      "{-# NOINLINE tickPointIn #-}",
      "",
      "spin :: Int -> ()",
      "spin n = if length (filter odd [1 .. n]) < 0 then error \"spin\" else ()",
      "{-# NOINLINE spin #-}",
      "",
      "foreign import ccall safe \"usleep\" usleep :: Int -> IO Int",
      "",
      "safeCall :: a -> IO a",
      "safeCall x = chance >>= \\c -> x <$ usleep (if c > 1 then 2500 else 0)",
      "",
      "catchIO :: IO a -> (SomeException -> IO a) -> IO a",
      "catchIO = catch",
      "",
      "catchInSTM :: STM a -> (SomeException -> STM a) -> STM a",
      "catchInSTM = catchSTM",
      "",
      "intMVar :: IO (MVar Int)",
      "intMVar = newEmptyMVar",
      "",
      "auxOf :: SCont -> STM [Int]",
      "auxOf s = maybeToList . fromDynamic <$> getAux s",
      ""
    ]
      ++ (if threads == OfLibrary then library else [])
  where
    hiding names = if threads == OfLibrary then " hiding (" ++ names ++ ")" else ""
    library =
      [ "forking :: IORef (IO () -> IO ThreadId)",
        "forking = unsafePerformIO (newIORef GHC.Conc.forkIO)",
        "{-# NOINLINE forking #-}",
        "",
        "forkIO :: IO () -> IO ThreadId",
        "forkIO action = readIORef forking >>= \\fork -> fork action",
        ""
      ]

term :: Sort -> Code -> String
term sort t = case t of
  Return e
    | sort == Pure -> expr e
    | otherwise -> call "pure" [expr e]
  Bind m (Fun x n)
    | sort == Pure -> "(case " ++ term sort m ++ " of { !" ++ var x ++ " -> " ++ term sort n ++ " })"
    | otherwise -> "(" ++ term sort m ++ " >>= \\" ++ var x ++ " -> " ++ term sort n ++ ")"
  Throw e -> call (choose "throwIO" "throwSTM" "throw") [expr e]
  Catch m f -> call (choose "catchIO" "catchInSTM" "catchInThunk") [term sort m, fun sort f]
  IfEqual e e' m n -> "(if " ++ expr e ++ " == " ++ expr e' ++ " then " ++ term sort m ++ " else " ++ term sort n ++ ")"
  Uncons e m y ys n ->
    "(case " ++ expr e ++ " of { [] -> " ++ term sort m ++ "; (" ++ var y ++ " : " ++ var ys ++ ") -> " ++ term sort n
      ++ " })"
  Mask masking m -> call (maskName masking) [term sort m]
  Atomically m -> call "atomically" [term InSTM m]
  OrElse m n -> call "orElse" [term sort m, term sort n]
  Switch f -> call "switch" [fun InSTM f]
  NewSCont m -> call "newSCont" [call "void" [term InIO m]]
  Fork m -> call "forkIO" [call "void" [term InIO m]]
  SetDequeueAct f -> call "setDequeueAct" [fun InSTM f]
  SetEnqueueAct f -> call "setEnqueueAct" [fun InSTM f]
  NewThunk m -> call "newThunk" [term Pure m]
  Perform primitive args -> perform primitive (map expr args)
  where
    choose inIO inSTM pure' = case sort of
      InIO -> inIO
      InSTM -> inSTM
      Pure -> pure'
    perform primitive args = case primitive of
      SetAux | [s, v] <- args -> call "setAux" [s, call "toDyn" [v]]
      SafeCall -> call "safeCall" args
      TickPoint -> choose "tickPoint" (never "tick") "(tickPointIn ())"
      Force -> call (choose "forceIO" "forceSTM" "unlazy") args
      _ -> call (primitiveName primitive) args

never :: String -> a
never what = error ("does not occur here: " ++ what)

maskName :: Masking -> String
maskName masking = case masking of
  Unmasked -> "unsafeUnmask"
  MaskedInterruptible -> "mask_"
  MaskedUninterruptible -> "uninterruptibleMask_"

primitiveName :: Primitive -> String
primitiveName primitive = case primitive of
  NewTVar -> "newTVar"
  ReadTVar -> "readTVar"
  WriteTVar -> "writeTVar"
  Retry -> "retry"
  NewMVar -> "intMVar"
  TakeMVar -> "takeMVar"
  PutMVar -> "putMVar"
  GetAux -> "auxOf"
  SetAux -> "setAux"
  DequeueAct -> "dequeueAct"
  EnqueueAct -> "enqueueAct"
  CurrentHEC -> "getCurrentHEC"
  NumHECs -> "getNumHECs"
  RunOnIdleHEC -> "runOnIdleHEC"
  ThrowTo -> "throwTo"
  MyThreadId -> "myThreadId"
  SafeCall -> "safeCall"
  TickPoint -> "tickPoint"
  Force -> "unlazy"
  Output -> "output"

fun :: Sort -> Fun Int -> String
fun sort (Fun x m) = "(\\" ++ var x ++ " -> " ++ term sort m ++ ")"

call :: String -> [String] -> String
call f args = "(" ++ unwords (f : args) ++ ")"

var :: Name -> String
var x = 'x' : show x

expr :: Expr Int -> String
expr e = case e of
  Var x -> var x
  Val v -> value v
  Apply operator args -> case (operator, map expr args) of
    (Plus, [a, b]) -> "(" ++ a ++ " + " ++ b ++ ")"
    (Cons, [a, b]) -> "(" ++ a ++ " : " ++ b ++ ")"
    (Snoc, [a, b]) -> "(" ++ a ++ " ++ [" ++ b ++ "])"
    (ThreadOf, [a]) -> call "threadOf" [a]
    other -> error ("ill-typed: " ++ show other)

value :: Value Int -> String
value v = case v of
  Unit -> "()"
  Int n -> "(" ++ show n ++ " :: Int)"
  List vs -> "[" ++ concatMap value (take 1 vs) ++ concatMap ((", " ++) . value) (drop 1 vs) ++ "]"
  Exception (User n) -> "(User " ++ show n ++ ")"
  other -> error ("not in programs: " ++ show other)
