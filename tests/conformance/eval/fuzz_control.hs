-- Random programs of handlers, masks, asynchronous exceptions that wait, threads, callbacks and nested transactions,
-- beside a model that says what each does; and transactions of several threads, whose results must be those of one
-- after the other: arguments are the first and the last seed and the programs for each.
-- ghc: -O -threaded
-- args: 1 6 25
{-# LANGUAGE BangPatterns, RankNTypes #-}
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Bits
import Data.IORef
import qualified Data.IntMap.Strict as M
import Data.Word
import Foreign.Ptr
import GHC.Conc (BlockReason (..), ThreadStatus (..), threadStatus)
import System.Environment
import System.Exit
import System.IO.Unsafe
import System.Mem

foreign import ccall "wrapper" exported :: IO () -> IO (FunPtr (IO ()))
foreign import ccall safe "dynamic" imported :: FunPtr (IO ()) -> IO ()

newtype E = E Int deriving Show
instance Exception E

-- Programs of control.
data P
  = Say | Throw Int | Catch [P] [P] | Mask [P] | Uninterruptibly [P] | Restore [P] | Finally [P] [P]
  | Pend Int | Self Int | Block | Poll | Fork Int [P] | Deep Int [P] | Call [P] | Force Int | Atomically [T] | Collect
  deriving Show
-- Programs of transactions over a few variables.
data T = Read Int | Write Int Int | Plus Int Int | Retry | Raise Int | Or [T] [T] | Rescue [T] [T] | IfEven Int [T] [T] | New Int
  deriving Show

wrong :: String -> IO a
wrong s = putStrLn ("WRONG " ++ s) >> exitWith (ExitFailure 1)

type Rng = IORef Word64

rnd :: Rng -> Int -> IO Int
rnd r n = do
  s <- readIORef r
  let !s' = s + 0x9E3779B97F4A7C15
      a = (s' `xor` (s' `shiftR` 30)) * 0xBF58476D1CE4E5B9
      b = (a `xor` (a `shiftR` 27)) * 0x94D049BB133111EB
  writeIORef r s'
  pure $! fromIntegral ((b `xor` (b `shiftR` 31)) `shiftR` 8) `mod` n

-- `inside` a mask there is something to restore.
genPs :: Rng -> Bool -> Int -> IO [P]
genPs g inside d = rnd g 4 >>= \n -> replicateM (n + 1) (genP g inside d)

genP :: Rng -> Bool -> Int -> IO P
genP g inside d = do
  c <- rnd g (if d <= 0 then 13 else 32)
  n <- rnd g 90
  let sub = genPs g inside (d - 1)
  case c of
    _ | c < 3 -> pure Say
    3 -> pure (Throw n)
    4 -> pure (Pend n)
    5 -> pure (Pend n)
    6 -> pure (if n < 20 then Self n else Poll)
    7 -> pure Block
    8 -> pure Poll
    9 -> pure (Force (n `mod` 8))
    10 -> Atomically <$> genTs g 3
    11 -> Atomically <$> genTs g 4
    12 -> pure (if n < 15 then Collect else Say)
    _ | c < 18 -> Catch <$> sub <*> sub
      | c < 21 -> Mask <$> genPs g True (d - 1)
      | c < 23 -> Uninterruptibly <$> genPs g True (d - 1)
      | c < 26 -> if inside then Restore <$> sub else Mask <$> genPs g True (d - 1)
      | c < 28 -> Finally <$> sub <*> sub
    28 -> Fork n <$> genPs g False (d - 1)
    29 -> Deep (n * n) <$> sub
    30 -> Call <$> genPs g False (d - 1)
    _ -> Catch <$> sub <*> sub

vars :: Int
vars = 6

genTs :: Rng -> Int -> IO [T]
genTs g d = rnd g 4 >>= \n -> replicateM (n + 1) (genT g d)

genT :: Rng -> Int -> IO T
genT g d = do
  c <- rnd g (if d <= 0 then 9 else 18)
  i <- rnd g vars
  j <- rnd g vars
  n <- rnd g 50
  let sub = genTs g (d - 1)
  case c of
    _ | c < 3 -> pure (Read i)
      | c < 5 -> pure (Write i n)
      | c < 7 -> pure (Plus i j)
    7 -> pure (if n < 25 then Retry else New n)
    8 -> pure (if n < 25 then Raise n else Read i)
    _ | c < 12 -> Or <$> sub <*> sub
      | c < 15 -> Rescue <$> sub <*> sub
      | otherwise -> IfEven i <$> sub <*> sub

-- The model of transactions: the variables and what has been read, latest first.
data Outcome = Done (M.IntMap Int) [Int] | Retried | Raised Int

modelT :: [T] -> M.IntMap Int -> [Int] -> Outcome
modelT [] m rs = Done m rs
modelT (t : ts) m rs = case t of
  Read i -> modelT ts m (m M.! i : rs)
  Write i n -> modelT ts (M.insert i n m) rs
  Plus i j -> modelT ts (M.insert j ((m M.! i + m M.! j) .&. 0xffff) m) rs
  Retry -> Retried
  Raise n -> Raised n
  New n -> modelT ts m (n + 1 : rs)
  IfEven i a b -> modelT ((if even (m M.! i) then a else b) ++ ts) m rs
  Or a b -> case modelT a m rs of
    Retried -> modelT (b ++ ts) m rs
    Done m' rs' -> modelT ts m' rs'
    raised -> raised
  Rescue a b -> case modelT a m rs of
    Raised n -> modelT (b ++ ts) m (n : rs)
    Done m' rs' -> modelT ts m' rs'
    Retried -> Retried

execT :: [TVar Int] -> [T] -> [Int] -> STM [Int]
execT _ [] rs = pure rs
execT vs (t : ts) rs = case t of
  Read i -> readTVar (vs !! i) >>= \x -> execT vs ts (x : rs)
  Write i n -> writeTVar (vs !! i) n >> execT vs ts rs
  Plus i j -> readTVar (vs !! i) >>= \x -> modifyTVar (vs !! j) (\y -> (x + y) .&. 0xffff) >> execT vs ts rs
  Retry -> retry
  Raise n -> throwSTM (E n)
  New n -> newTVar n >>= \v -> modifyTVar' v (+ 1) >> readTVar v >>= \x -> execT vs ts (x : rs)
  IfEven i a b -> readTVar (vs !! i) >>= \x -> execT vs (if even x then a else b) rs >>= execT vs ts
  Or a b -> (execT vs a rs `orElse` execT vs b rs) >>= execT vs ts
  Rescue a b -> (execT vs a rs `catchSTM` \(E n) -> execT vs b (n : rs)) >>= execT vs ts

-- The model of control: what has been said, latest first, the state, the exception that waits, and what Restore
-- restores.
data C = C { said :: [String], masked :: MaskingState, pending :: Maybe Int, restores :: MaskingState, atHome :: Bool, store :: M.IntMap Int }
type Step = C -> (C, Maybe Int)

sayC :: String -> C -> C
sayC s c = c { said = s : said c }

-- Goes on with what waits, if exceptions are not masked.
deliver :: Step
deliver c | masked c == Unmasked, Just e <- pending c = (c { pending = Nothing }, Just e)
          | otherwise = (c, Nothing)

within :: MaskingState -> Step -> Step
within s body c = case deliver c { masked = s } of
  (c1, Nothing) -> case body c1 of
    (c2, Nothing) -> deliver c2 { masked = masked c }
    raised -> raised
  raised -> raised

restoring :: MaskingState -> Step -> Step
restoring s body c = let (c1, r) = body c { restores = s } in (c1 { restores = restores c }, r)

-- With a handler: it begins with exceptions masked.
caught :: Step -> (Int -> Step) -> Step
caught body handler c = case body c of
  (c1, Nothing) -> (c1, Nothing)
  (c1, Just e) -> case handler e c1 { masked = if masked c == Unmasked then MaskedInterruptible else masked c, restores = restores c } of
    (c2, Nothing) -> deliver c2 { masked = masked c }
    raised -> raised

model :: [P] -> Step
model [] c = (c, Nothing)
model (p : ps) c = case modelP p c of
  (c1, Nothing) -> model ps c1
  raised -> raised

-- What still waits when the last handler returns comes then.
ending :: [P] -> Step
ending ps = caught (model ps) (\e c -> (sayC ("ended by " ++ show e) c, Nothing))

modelP :: P -> Step
modelP p c = case p of
  Say -> (sayC (show (masked c)) c, Nothing)
  Throw n -> (c, Just n)
  Self n -> (c, Just n)
  Catch a b -> caught (model a) (\e -> model b . sayC ("caught " ++ show e)) c
  Mask a -> restoring (masked c) (if masked c == Unmasked then within MaskedInterruptible (model a) else model a) c
  Uninterruptibly a -> restoring (masked c) (if masked c == MaskedUninterruptible then model a else within MaskedUninterruptible (model a)) c
  Restore a -> within (restores c) (model a) c
  -- As base has it: mask, and the first part with what was restored.
  Finally a b ->
    let body c1 = case caught (within (masked c) (model a)) (\e c2 -> case model b c2 of { (c3, Nothing) -> (c3, Just e); raised -> raised }) c1 of
          (c2, Nothing) -> model b c2
          raised -> raised
    in restoring (restores c) (if masked c == Unmasked then within MaskedInterruptible body else body) c
  Pend n | masked c == Unmasked -> (c, Just n)
         | Just _ <- pending c -> (c, Nothing)
         | not (atHome c) -> (c, Nothing)
         | otherwise -> (c { pending = Just n }, Nothing)
  Block | masked c == MaskedInterruptible, Just e <- pending c -> (c { pending = Nothing }, Just e)
        | otherwise -> (c, Nothing)
  Poll | masked c == MaskedInterruptible, Just e <- pending c -> (c { pending = Nothing }, Just e)
       | otherwise -> (c, Nothing)
  Fork _ a -> apart (masked c) True a
  Call a -> apart Unmasked False a
  Deep _ a -> model a c
  Force k | k >= 6 -> (c, Just (1000 + k))
          | otherwise -> (sayC (show k) c, Nothing)
  Atomically ts -> case modelT ts (store c) [] of
    Done m rs -> (sayC (show rs) c { store = m }, Nothing)
    Retried -> (sayC "retried" c, Nothing)
    Raised n -> (c, Just n)
  Collect -> (c, Nothing)
 where
  -- In a thread of its own.
  apart s home a = let (c1, r) = ending a (C [] s Nothing Unmasked home (store c))
                   in (sayC (show r) c { said = said c1 ++ said c, store = store c1 }, Nothing)

-- The same for real. A thread that throws to one that masks exceptions does so on the same HEC, where it has arrived
-- when the thrower waits; a callback has no HEC of its own.
data R = R { home :: Maybe Int, heard :: IORef [String], variables :: [TVar Int], thunks :: [Int], thrower :: IORef (Maybe ThreadId), back :: forall a. IO a -> IO a }

say :: R -> String -> IO ()
say r s = modifyIORef' (heard r) (s :)

exec :: R -> [P] -> IO ()
exec r = mapM_ (execP r)

execEnding :: R -> [P] -> IO ()
execEnding r ps = exec r ps `catch` \(E n) -> say r ("ended by " ++ show n)

execP :: R -> P -> IO ()
execP r p = case p of
  Say -> getMaskingState >>= say r . show
  Throw n -> throwIO (E n)
  Self n -> myThreadId >>= \t -> throwTo t (E n)
  Catch a b -> exec r a `catch` \(E n) -> say r ("caught " ++ show n) >> exec r b
  Mask a -> mask $ \restore -> exec r { back = restore } a
  Uninterruptibly a -> uninterruptibleMask $ \restore -> exec r { back = restore } a
  Restore a -> back r (exec r a)
  Finally a b -> exec r a `finally` exec r b
  Pend n -> do
    me <- myThreadId
    s <- getMaskingState
    before <- waits r
    case s of
      Unmasked -> do
        _ <- forkIO (throwTo me (E n))
        if even n then forever (threadDelay 100) else forever (evaluate (length (show n)) >> yield)
      _ | Just hec <- home r, not before -> do
            t <- forkOn hec (throwTo me (E n))
            writeIORef (thrower r) (Just t)
            let wait = waits r >>= \w -> unless w (yield >> wait)
            wait
        | otherwise -> pure ()
  Block -> do
    s <- getMaskingState
    before <- waits r
    v <- newEmptyMVar
    if s == MaskedInterruptible && before then takeMVar v else putMVar v () >> takeMVar v
  Poll -> getMaskingState >>= \s -> when (s /= Unmasked) allowInterrupt
  Fork n a -> do
    done <- newEmptyMVar
    h <- newIORef []
    w <- newIORef Nothing
    _ <- forkOn n (try (execEnding (R (Just n) h (variables r) (thunks r) w id) a) >>= putMVar done)
    joined h (uninterruptibleMask_ (takeMVar done))
  Call a -> do
    done <- newIORef (Right ())
    h <- newIORef []
    w <- newIORef Nothing
    f <- exported (try (execEnding (R Nothing h (variables r) (thunks r) w id) a) >>= writeIORef done)
    imported f
    freeHaskellFunPtr f
    joined h (readIORef done)
  Deep n a -> deep n (exec r a) >>= \k -> when (k /= n) (wrong "depth")
  Force k -> evaluate (thunks r !! k) >>= \x -> say r (show x)
  Atomically ts -> atomically ((show <$> execT (variables r) ts []) `orElse` pure "retried") >>= say r
  Collect -> performMajorGC
 where
  joined h get = do
    x <- get
    ss <- readIORef h
    modifyIORef' (heard r) (ss ++)
    say r (show (either (\(E n) -> Just n) (const Nothing) (x :: Either E ())))

-- Is there an exception that waits for this thread?
waits :: R -> IO Bool
waits r = readIORef (thrower r) >>= maybe (pure False) (fmap (== ThreadBlocked BlockedOnException) . threadStatus)

deep :: Int -> IO () -> IO Int
deep 0 io = io >> pure 0
deep n io = deep (n - 1) io >>= \k -> pure $! k + 1

run :: Int -> Int -> IO ()
run seed count = do
  g <- newIORef (fromIntegral seed * 0x9E3779B97F4A7C15 + 5)
  lens <- forM [1 .. count] $ \i -> do
    d <- rnd g 5
    p <- genPs g False d
    vs <- replicateM vars (newTVarIO 1)
    h <- newIORef []
    w <- newIORef Nothing
    let ts = [ if k >= 6 then throw (E (1000 + k)) else unsafePerformIO (yield >> evaluate (length (replicate k 'x'))) | k <- [0 .. 7] ]
    end <- newEmptyMVar
    _ <- forkOn i (try (execEnding (R (Just i) h vs ts w id) p) >>= putMVar end)
    x <- takeMVar end
    ss <- readIORef h
    ys <- mapM readTVarIO vs
    let (c, e) = ending p (C [] Unmasked Nothing Unmasked True (M.fromList (zip [0 .. vars - 1] (repeat 1))))
        got = (ss, either (\(E n) -> Just n) (const Nothing) x, ys)
    when (got /= (said c, e, M.elems (store c))) $
      wrong (unlines [unwords ["seed", show seed, "program", show i], show p, show got, show (said c, e, M.elems (store c))])
    pure (length ss)
  together seed g count
  putStrLn (unwords ["seed", show seed, "said", show (sum lens)])

-- Transactions of several threads, which are poked, and what each has read: as if one had come after the other.
together :: Int -> Rng -> Int -> IO ()
together seed g count = do
  vs <- replicateM vars (newTVarIO 1)
  history <- newTVarIO []
  n <- (2 +) <$> rnd g 3
  threads <- forM [1 .. n] $ \_ -> do
    ts <- replicateM count (genTs g 4)
    done <- newEmptyMVar
    t <- mask_ $ forkIOWithUnmask $ \unmask -> do
      forM_ ts $ \t -> do
        r <- try $ unmask $ atomically $ do
          x <- (Right . Just <$> execT vs t []) `orElse` pure (Right Nothing) `catchSTM` \(E e) -> pure (Left e)
          modifyTVar' history ((t, x) :)
        either (\e -> const (pure ()) (e :: ErrorCall)) pure r
      putMVar done ()
    pure (t, done)
  pokes <- rnd g 30
  replicateM_ pokes $ rnd g n >>= \i -> throwTo (fst (threads !! i)) (ErrorCall "poke") >> yield
  mapM_ (takeMVar . snd) threads
  ls <- reverse <$> readTVarIO history
  ys <- mapM readTVarIO vs
  let replay m [] = pure m
      replay m ((t, x) : rest) = case (modelT t m [], x) of
        (Done m' rs, Right (Just rs')) | rs == rs' -> replay m' rest
        (Retried, Right Nothing) -> replay m rest
        (Raised e, Left e') | e == e' -> replay m rest
        _ -> wrong (unwords ["seed", show seed, "no order explains", show t, show x])
  m <- replay (M.fromList (zip [0 .. vars - 1] (repeat 1))) ls
  when (M.elems m /= ys) $ wrong (unwords ["seed", show seed, "variables", show ys])

main :: IO ()
main = do
  args <- getArgs
  case map read args of
    [from, to, count] -> forM_ [from .. to] (`run` count)
    _ -> wrong "arguments"
