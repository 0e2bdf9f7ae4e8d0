-- Random programs in a lazy language, each evaluated three ways: as functions, pairs and lists of the host, as closures
-- over values, and by a machine with a heap and a stack of its own. Later programs refer to values of earlier ones, and
-- threads that are stopped, time out and collect evaluate all of it before it is compared: arguments are the first and
-- the last seed and the programs for each.
-- ghc: -O -threaded
-- args: 1 8 40
{-# LANGUAGE BangPatterns #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits
import qualified Data.IntMap.Strict as M
import Data.IORef
import Data.Word
import GHC.Exts (Any)
import System.Environment
import System.Exit
import System.Mem
import System.Timeout
import Unsafe.Coerce

data Ty = I | L | Ty :> Ty | Ty :* Ty deriving (Eq, Show)
infixr 5 :>

-- Variables are counted from the innermost binder.
data Term
  = Var !Int | Lam Term | App Term Term | Lit Int | Add Term Term | Mul Term Term | If0 Term Term Term | Let Term Term | Rec Term Term
  | Pair Term Term | Fst Term | Snd Term | Nil | Cons Term Term | Case Term Term Term | Seq Term Term | Raise
  deriving Show

data Boom = Boom deriving Show
instance Exception Boom
data Poke = Poke deriving Show
instance Exception Poke

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

choose :: Rng -> [a] -> IO a
choose g xs = (xs !!) <$> rnd g (length xs)

types :: [Ty]
types = [I, I, L, I :> I, I :> I :> I, I :* I, I :* L, L :* (I :> I), I :> I :> I :> I, L :> I, I :> L, (I :> I) :> I :> I, (I :* I) :> I
  , I :> I :> L :> I :> I, I :> I :> I :> I :> I :> I, L :> (I :* I) :> I :> (I :> I) :> I :> I :> I]

-- A term of this type, where variables have those.
gen :: Rng -> [Ty] -> Ty -> Int -> IO Term
gen g ctx ty d = do
  c <- if d <= 0 then rnd g 6 else rnd g 40
  k <- rnd g 60
  case c of
    _ | c < 3, not (null vars) -> Var <$> choose g vars
      | k == 0 -> pure Raise
      | d <= 0 || c < 10 -> intro
      | c < 17 -> do
          a <- choose g types
          App <$> gen g ctx (a :> ty) (d - 1) <*> gen g ctx a (d - 1)
      | c < 24 -> spine
      | c < 27 -> If0 <$> gen g ctx I (d - 1) <*> sub ctx ty <*> sub ctx ty
      | c < 30 -> choose g types >>= \t -> Let <$> sub ctx t <*> sub (t : ctx) ty
      | c < 33 -> choose g types >>= \t -> Rec <$> sub (t : ctx) t <*> sub (t : ctx) ty
      | c < 35 -> choose g types >>= \t -> Fst <$> sub ctx (ty :* t)
      | c < 37 -> choose g types >>= \t -> Snd <$> sub ctx (t :* ty)
      | c < 39 -> Case <$> sub ctx L <*> sub ctx ty <*> sub (L : I : ctx) ty
      | otherwise -> choose g types >>= \t -> Seq <$> sub ctx t <*> sub ctx ty
 where
  sub cx t = gen g cx t (d - 1)
  vars = [ i | (i, t) <- zip [0 ..] ctx, t == ty ]
  -- A variable with as many arguments as give this type.
  spine = case [ (i, as) | (i, t) <- zip [0 ..] ctx, Just as <- [argumentsTo t] ] of
    [] -> intro
    fs -> choose g fs >>= \(i, as) -> foldM (\f a -> App f <$> sub ctx a) (Var i) as
  argumentsTo t | t == ty = Just []
  argumentsTo (a :> r) = (a :) <$> argumentsTo r
  argumentsTo _ = Nothing
  intro = case ty of
    I -> rnd g 4 >>= \j -> if d <= 0 || j == 0 then Lit <$> rnd g 5 else (if j == 1 then Mul else Add) <$> sub ctx I <*> sub ctx I
    L -> rnd g 3 >>= \j -> if d <= 0 || j == 0 then pure Nil else Cons <$> sub ctx I <*> sub ctx L
    a :> b -> Lam <$> gen g (a : ctx) b d
    a :* b -> Pair <$> sub ctx a <*> sub ctx b

arith :: Term -> Int -> Int -> Int
arith (Add _ _) x y = (x + y) `mod` 1000003
arith _ x y = (x * y) `mod` 1000003

-- 1. Values of the host, without their types: functions of as many parameters as there are binders in a row, calls of
--    as many arguments as follow.
native :: Term -> [Any] -> Any
native t env = case t of
  Var i -> env !! i
  Lam (Lam (Lam (Lam (Lam b)))) -> let f = native b in unsafeCoerce (\p q r s u -> f (u : s : r : q : p : env))
  Lam (Lam (Lam (Lam b))) -> let f = native b in unsafeCoerce (\p q r s -> f (s : r : q : p : env))
  Lam (Lam (Lam b)) -> let f = native b in unsafeCoerce (\p q r -> f (r : q : p : env))
  Lam (Lam b) -> let f = native b in unsafeCoerce (\p q -> f (q : p : env))
  Lam b -> let f = native b in unsafeCoerce (\p -> f (p : env))
  App (App (App (App (App (App f p) q) r) s) u) v -> fun f (native p env) (native q env) (native r env) (native s env) (native u env) (native v env)
  App (App (App (App (App f p) q) r) s) u -> fun f (native p env) (native q env) (native r env) (native s env) (native u env)
  App (App (App (App f p) q) r) s -> fun f (native p env) (native q env) (native r env) (native s env)
  App (App (App f p) q) r -> fun f (native p env) (native q env) (native r env)
  App (App f p) q -> fun f (native p env) (native q env)
  App f p -> fun f (native p env)
  Lit n -> unsafeCoerce n
  Add a b -> unsafeCoerce (arith t (unsafeCoerce (native a env)) (unsafeCoerce (native b env)))
  Mul a b -> unsafeCoerce (arith t (unsafeCoerce (native a env)) (unsafeCoerce (native b env)))
  If0 c a b -> if unsafeCoerce (native c env) == (0 :: Int) then native a env else native b env
  Let a b -> let x = native a env in native b (x : env)
  Rec a b -> let env' = x : env
                 x = native a env' in native b env'
  Pair a b -> unsafeCoerce (native a env, native b env)
  Fst p -> let q = unsafeCoerce (native p env) :: (Any, Any)
               x = fst q in x
  Snd p -> snd (unsafeCoerce (native p env) :: (Any, Any))
  Nil -> unsafeCoerce ([] :: [Any])
  Cons a b -> unsafeCoerce (native a env : (unsafeCoerce (native b env) :: [Any]))
  Case l n c -> case unsafeCoerce (native l env) :: [Any] of
    [] -> native n env
    _ | even (length env) -> let ~(x : xs) = unsafeCoerce (native l env) in native c (unsafeCoerce (xs :: [Any]) : x : env)
    x : xs -> native c (unsafeCoerce xs : x : env)
  Seq a b -> native a env `seq` native b env
  Raise -> throw Boom
 where
  fun :: Term -> a
  fun f = unsafeCoerce (native f env)

-- 2. Closures over values; variables are fields of fields of the environment.
data V = VI Int | VF (V -> V) | VP { vfst, vsnd :: V } | VN | VC V V
data E = E { top :: V, under :: E }

closures :: Term -> E -> V
closures t env = case t of
  Var i -> top (iterate under env !! i)
  Lam b -> VF (\x -> closures b (E x env))
  App f a -> case closures f env of
    VF h -> h (delayed a)
    _ -> error "function"
  Lit n -> VI n
  Add a b -> number t (closures a env) (closures b env)
  Mul a b -> number t (closures a env) (closures b env)
  If0 c a b -> case closures c env of
    VI 0 -> closures a env
    _ -> closures b env
  Let a b -> closures b (E (delayed a) env)
  Rec a b -> let env' = E (closures a env') env in closures b env'
  Pair a b -> VP (delayed a) (delayed b)
  Fst p -> vfst (closures p env)
  Snd p -> vsnd (closures p env)
  Nil -> VN
  Cons a b -> VC (delayed a) (delayed b)
  Case l n c -> case closures l env of
    VC x xs -> closures c (E xs (E x env))
    _ -> closures n env
  Seq a b -> closures a env `seq` closures b env
  Raise -> throw Boom
 where
  delayed (Var 0) = top env
  delayed (Var 1) = let u = under env in top u
  delayed (Fst p) = let q = closures p env in vfst q
  delayed (Snd p) = let q = closures p env in vsnd q
  delayed a = closures a env
  number op (VI x) (VI y) = VI (arith op x y)
  number _ _ _ = error "number"

-- 3. The machine: call by need with an explicit heap, stack and number of steps.
data Cell = Delayed Term [Int] | Value W | Busy
data W = WI Int | WF Term [Int] | WP Int Int | WN | WC Int Int
data Frame
  = Arg Int | Update Int | Left_ Term Term [Int] | Right_ Term Int | Choose Term Term [Int] | First | Second | Branch Term Term [Int] | Then Term [Int]

data Machine = Machine { heap :: M.IntMap Cell, free :: !Int, steps :: !Int }
data Stopped = Raised | TooLong

alloc :: Cell -> Machine -> (Int, Machine)
alloc c m = (free m, m { heap = M.insert (free m) c (heap m), free = free m + 1 })

eval :: Term -> [Int] -> [Frame] -> Machine -> (Machine, Either Stopped W)
eval t env st m0
  | steps m0 <= 0 = (m0, Left TooLong)
  | otherwise = case t of
      Var i -> enter (env !! i) st m
      Lam b -> ret (WF b env) st m
      App f a -> let (p, m') = delay a m in eval f env (Arg p : st) m'
      Lit n -> ret (WI n) st m
      Add a b -> eval a env (Left_ t b env : st) m
      Mul a b -> eval a env (Left_ t b env : st) m
      If0 c a b -> eval c env (Choose a b env : st) m
      Let a b -> let (p, m') = delay a m in eval b (p : env) st m'
      Rec a b -> let (p, m') = alloc (Delayed a (p : env)) m in eval b (p : env) st m'
      Pair a b -> let { (p, m1) = delay a m; (q, m2) = delay b m1 } in ret (WP p q) st m2
      Fst p -> eval p env (First : st) m
      Snd p -> eval p env (Second : st) m
      Nil -> ret WN st m
      Cons a b -> let { (p, m1) = delay a m; (q, m2) = delay b m1 } in ret (WC p q) st m2
      Case l n c -> eval l env (Branch n c env : st) m
      Seq a b -> eval a env (Then b env : st) m
      Raise -> (restored st m, Left Raised)
 where
  m = m0 { steps = steps m0 - 1 }
  delay (Var i) k = (env !! i, k)
  delay a k = alloc (Delayed a env) k

-- What was under evaluation raises again when it is needed again.
restored :: [Frame] -> Machine -> Machine
restored st m = m { heap = foldr (\p h -> M.insert p (Delayed Raise []) h) (heap m) [ p | Update p <- st ] }

enter :: Int -> [Frame] -> Machine -> (Machine, Either Stopped W)
enter p st m = case M.lookup p (heap m) of
  Just (Value w) -> ret w st m
  Just (Delayed t env) -> eval t env (Update p : st) m { heap = M.insert p Busy (heap m) }
  _ -> (m, Left TooLong)

ret :: W -> [Frame] -> Machine -> (Machine, Either Stopped W)
ret w [] m = (m, Right w)
ret w (f : st) m = case (f, w) of
  (Update p, _) -> ret w st m { heap = M.insert p (Value w) (heap m) }
  (Arg a, WF b env) -> eval b (a : env) st m
  (Left_ t b env, WI x) -> eval b env (Right_ t x : st) m
  (Right_ t x, WI y) -> ret (WI (arith t x y)) st m
  (Choose a b env, WI x) -> eval (if x == 0 then a else b) env st m
  (First, WP p _) -> enter p st m
  (Second, WP _ q) -> enter q st m
  (Branch n _ env, WN) -> eval n env st m
  (Branch _ c env, WC x xs) -> eval c (xs : x : env) st m
  (Then b env, _) -> eval b env st m
  _ -> error "machine"

-- What can be seen of a value of this type.
seenNative :: Ty -> Any -> String
seenNative I x = show (unsafeCoerce x :: Int)
seenNative L x = show (take 12 (unsafeCoerce x :: [Int]))
seenNative (a :* b) x = let (p, q) = unsafeCoerce x in "(" ++ seenNative a p ++ "," ++ seenNative b q ++ ")"
seenNative (I :> b) x = "\\" ++ seenNative b ((unsafeCoerce x :: Int -> Any) 3)
seenNative (_ :> _) x = x `seq` "f"

seenClosures :: Ty -> V -> String
seenClosures I (VI n) = show n
seenClosures L v = show (take 12 (list v))
 where list (VC (VI x) xs) = x : list xs
       list _ = []
seenClosures (a :* b) (VP p q) = "(" ++ seenClosures a p ++ "," ++ seenClosures b q ++ ")"
seenClosures (I :> b) (VF f) = "\\" ++ seenClosures b (f (VI 3))
seenClosures (_ :> _) (VF _) = "f"
seenClosures _ _ = error "seen"

seenMachine :: Ty -> Int -> Machine -> (Machine, Either Stopped String)
seenMachine ty p m = case enter p [] m of
  (m1, Left s) -> (m1, Left s)
  (m1, Right w) -> case (ty, w) of
    (I, WI n) -> (m1, Right (show n))
    (L, _) -> fmap (show . reverse) <$> list (12 :: Int) [] w m1
    (a :* b, WP x y) -> case seenMachine a x m1 of
      (m2, Right s) -> (fmap (\s' -> "(" ++ s ++ "," ++ s' ++ ")")) <$> seenMachine b y m2
      stopped -> stopped
    (I :> b, WF body env) ->
      let (q, m2) = alloc (Value (WI 3)) m1
          (r, m3) = alloc (Delayed body (q : env)) m2
      in (fmap ('\\' :)) <$> seenMachine b r m3
    (_ :> _, WF _ _) -> (m1, Right "f")
    _ -> error "seen by machine"
 where
  list k seen (WC x xs) k1 | k > 0 = case enter x [] k1 of
    (k2, Right (WI n)) | k == 1 -> (k2, Right (n : seen))
                       | otherwise -> case enter xs [] k2 of
      (k3, Right w) -> list (k - 1) (n : seen) w k3
      (k3, Left s) -> (k3, Left s)
    (k2, Left s) -> (k2, Left s)
    _ -> error "list"
  list _ seen _ k1 = (k1, Right seen)

-- A program that ended: its type, its value in each evaluator, and what is to be seen of it.
data Ended = Ended { typeOf :: Ty, inHost :: Any, inClosures :: V, inMachine :: Int, expected :: Maybe String }

limit :: Int
limit = 4000

run :: Int -> Int -> IO ()
run seed count = do
  g <- newIORef (fromIntegral seed * 0x9E3779B97F4A7C15 + 99)
  -- The types first, then the machine decides which programs end.
  let go :: Int -> [Ended] -> Machine -> IO [Ended]
      go 0 done _ = pure done
      go k done m = do
        ty <- choose g types
        d <- (3 +) <$> rnd g 4
        t <- gen g (map typeOf done) ty d
        let (p, m1) = alloc (Delayed t (map inMachine done)) m { steps = limit }
            (m2, r) = seenMachine ty p m1
            ended o = Ended ty (native t (map inHost done)) (closures t (foldr (E . inClosures) (error "variable") done)) p o
        case r of
          Left TooLong -> go (k - 1) done m
          Left Raised -> go (k - 1) (ended Nothing : done) m2
          Right s -> length s `seq` go (k - 1) (ended (Just s) : done) m2
  done <- go count [] (Machine M.empty 0 0)
  let seen = [ (e, seenNative (typeOf e) (inHost e), seenClosures (typeOf e) (inClosures e)) | e <- done ]
      look :: String -> IO (Maybe String)
      look s = (evaluate (length s) >> pure (Just s)) `catch` \Boom -> pure Nothing
  -- Threads evaluate it, in different orders, and are disturbed.
  n <- rnd g 3
  workers <- forM [1 .. n] $ \i -> do
    end <- newEmptyMVar
    t <- mask_ $ forkIOWithUnmask $ \unmask -> do
      g' <- newIORef (fromIntegral (seed * 31 + i))
      let loop :: Int -> IO ()
          loop 0 = pure ()
          loop j = do
            (_, a, b) <- choose g' seen
            us <- rnd g' 60
            c <- rnd g' 4
            r <- try (unmask (case c of
              0 -> void (timeout us (look a >> look b))
              1 -> void (look a) >> performMinorGC
              2 -> void (look b)
              _ -> yield >> void (look a))) :: IO (Either Poke ())
            r `seq` loop (j - 1)
      loop count `finally` putMVar end ()
    pure (t, end)
  stops <- rnd g 40
  unless (null workers) $ replicateM_ stops (choose g workers >>= \(t, _) -> throwTo t Poke >> yield)
  mapM_ (takeMVar . snd) workers
  when (even stops) performMajorGC
  forM_ (zip [0 :: Int ..] seen) $ \(i, (e, a, b)) -> do
    x <- look a
    y <- look b
    when (x /= expected e || y /= expected e) $
      wrong (unwords ["seed", show seed, "program", show i, show (typeOf e), show (expected e), show x, show y])
  putStrLn (unwords ["seed", show seed, "ended", show (length done), "raised", show (length [ () | Ended { expected = Nothing } <- done ])
    , "sum", show (foldl (\h c -> (h * 31 + fromEnum c) `mod` 1000003) 7 (concat [ s | Just s <- map expected done ]))])

main :: IO ()
main = do
  args <- getArgs
  case map read args of
    [from, to, count] -> forM_ [from .. to] (`run` count)
    _ -> wrong "arguments"
