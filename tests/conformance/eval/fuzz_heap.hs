-- Random operations on a random graph of objects of every kind that the heap knows, beside a pure model of what each
-- must hold: arguments are the first and the last seed and the steps for each. What is printed depends on the model
-- only; a difference ends the program.
-- ghc: -O -threaded
-- args: 1 4 500
{-# LANGUAGE BangPatterns, MagicHash, UnboxedTuples #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Bits
import qualified Data.IntMap.Strict as M
import qualified Data.IntSet as S
import Data.IORef
import Data.Word
import GHC.Compact
import GHC.Conc (TVar (..))
import GHC.Exts
import GHC.IO (IO (..), unsafeDupableInterleaveIO, unsafePerformIO)
import GHC.IORef (IORef (..))
import GHC.MVar (MVar (..))
import GHC.Stable
import GHC.StableName (StableName (..))
import GHC.STRef (STRef (..))
import GHC.Weak
import System.Environment
import System.Exit
import System.IO.Unsafe (unsafeDupablePerformIO, unsafeInterleaveIO)
import System.Mem
import Unsafe.Coerce (unsafeCoerce#)

-- What is in the heap: an object says which one it is. Wherever one is kept, it may be a thunk.
data Obj = Obj !Int Body
data Body
  = BVar (MutVar# RealWorld Obj) | BMVar (MVar# RealWorld Obj) | BTVar (TVar# RealWorld Obj)
  | BArr (MutableArray# RealWorld Obj) | BSmall (SmallMutableArray# RealWorld Obj)
  | BFrozen (Array# Obj) | BSmallFrozen (SmallArray# Obj)
  | BBytes (MutableByteArray# RealWorld)
  | BList [Obj] | BFun (Int -> Int) | BMix Mix | BTree (Maybe (Compact Tree)) Tree | BStable (StablePtr Obj)

data Mix = X0 | X1 Obj | X2 Int# Obj | X3 Obj Double# Obj | X4 Obj Obj Obj | X5 !Obj Int# Int# Float# Char# Obj
data Tree = Leaf | Tree Tree Int String Tree

-- The model: what an object of that number holds. Arrays and bytes: the size, what is everywhere, and where it is not.
data Model
  = MOne Kind Int | MArr Kind Bool Int Int (M.IntMap Int) | MBytes Int Int (M.IntMap Int)
  | MList [Int] | MFun Int Int Int | MTree Int | MRaise Int
data Kind = Var | MVar_ | TVar_ | Big | Small | Stable deriving (Eq, Show)

data Boom = Boom Int deriving (Eq, Show)
instance Exception Boom
data Stop = Stop deriving Show
instance Exception Stop

data World = World
  { rootCount :: !Int, rng :: !(IORef Word64), next :: !(IORef Int), model :: !(IORef (M.IntMap Model)), slots :: !(IORef (M.IntMap Int)), roots :: Body
  , held :: !(IORef [Int]), weaks :: !(IORef [Ephemeron]), names :: !(IORef (M.IntMap (StableName Any))), checks :: !(IORef Int) }
data Ephemeron = Ephemeron { keyOf, valueOf :: !Int, weak :: Weak Obj, finalized :: !(IORef Int) }

-- Random numbers below n.
rnd :: World -> Int -> IO Int
rnd w n = do
  s <- readIORef (rng w)
  let !s' = s + 0x9E3779B97F4A7C15
      a = (s' `xor` (s' `shiftR` 30)) * 0xBF58476D1CE4E5B9
      b = (a `xor` (a `shiftR` 27)) * 0x94D049BB133111EB
  writeIORef (rng w) s'
  pure $! fromIntegral ((b `xor` (b `shiftR` 31)) `shiftR` 8) `mod` n

oneOf :: World -> [a] -> IO a
oneOf w xs = (xs !!) <$> rnd w (length xs)

-- Sizes about the limits: cards, what a block or an allocation area holds, what is large.
sizeOf :: World -> IO Int
sizeOf w = rnd w 40 >>= \k -> case k of
  0 -> (+ 400) <$> rnd w 20
  1 -> (+ 2030) <$> rnd w 30
  2 -> (+ 1000) <$> rnd w 3000
  3 -> (+ 120) <$> rnd w 20
  4 -> (+ 250) <$> rnd w 12
  5 -> rnd w 2
  6 -> rnd w 30 >>= \j -> if j == 0 then (+ 131000) <$> rnd w 400 else pure 3
  _ -> (+ 1) <$> rnd w 12

wrong :: String -> IO a
wrong s = putStrLn ("WRONG " ++ s) >> exitWith (ExitFailure 1)

require :: World -> Bool -> String -> IO ()
require w ok s = if ok then modifyIORef' (checks w) (+ 1) else wrong s

io_ :: (State# RealWorld -> State# RealWorld) -> IO ()
io_ f = IO $ \s -> case f s of s' -> (# s', () #)

-- Reading and writing elements, of whatever has elements.
readAt :: Body -> Int -> IO Obj
readAt (BVar v) _ = readIORef (IORef (STRef v))
readAt (BMVar v) _ = readMVar (MVar v)
readAt (BTVar v) _ = IO $ \s -> readTVarIO# v s
readAt (BArr a) (I# i) = IO (readArray# a i)
readAt (BSmall a) (I# i) = IO (readSmallArray# a i)
readAt (BFrozen a) (I# i) = IO $ \s -> case indexArray# a i of (# x #) -> (# s, x #)
readAt (BSmallFrozen a) (I# i) = IO $ \s -> case indexSmallArray# a i of (# x #) -> (# s, x #)
readAt (BStable p) _ = deRefStablePtr p
readAt (BList os) i = pure (os !! i)
readAt (BMix x) i = pure (mixed x !! i)
readAt _ _ = wrong "nothing to read"

writeAt :: Body -> Int -> Obj -> IO ()
writeAt (BVar v) _ o = writeIORef (IORef (STRef v)) o
writeAt (BMVar v) _ o = void (takeMVar (MVar v)) >> putMVar (MVar v) o
writeAt (BTVar v) _ o = IO $ \s -> atomically# (\t -> case writeTVar# v o t of t' -> (# t', () #)) s
writeAt (BArr a) (I# i) o = io_ (writeArray# a i o)
writeAt (BSmall a) (I# i) o = io_ (writeSmallArray# a i o)
writeAt _ _ _ = wrong "nothing to write"

mixed :: Mix -> [Obj]
mixed X0 = []
mixed (X1 a) = [a]
mixed (X2 _ a) = [a]
mixed (X3 a _ b) = [a, b]
mixed (X4 a b c) = [a, b, c]
mixed (X5 a _ _ _ _ b) = [a, b]

-- Compares instead of taking for granted, where the collector might have confused words and pointers.
sound :: Mix -> Bool
sound (X2 i _) = isTrue# (i ==# 77#)
sound (X3 _ d _) = isTrue# (d ==## 2.5##)
sound (X5 _ i j f c _) = isTrue# (i ==# 5#) && isTrue# (j ==# -6#) && isTrue# (f `eqFloat#` 1.5#) && isTrue# (c `eqChar#` 'y'#)
sound _ = True

lookupM :: World -> Int -> IO Model
lookupM w i = M.lookup i <$> readIORef (model w) >>= maybe (wrong ("no model of " ++ show i)) pure

setM :: World -> Int -> Model -> IO ()
setM w i m = modifyIORef' (model w) (M.insert i m)

children :: Model -> [Int]
children (MOne _ i) = [i]
children (MArr _ _ n d m) = [ d | M.size m < n ] ++ M.elems m
children (MList is) = is
children _ = []

elements :: Model -> Int
elements (MOne _ _) = 1
elements (MArr _ _ n _ _) = n
elements (MList is) = length is
elements _ = 0

elementAt :: Model -> Int -> Int
elementAt (MOne _ i) _ = i
elementAt (MArr _ _ _ d m) k = M.findWithDefault d k m
elementAt (MList is) k = is !! k
elementAt _ _ = -1

-- Laziness: thunks, applications, partial applications and selectors of many shapes whose value is `o`. `n` is how much
-- they work for it.
data Box = Box Obj
data Rec = Rec { ra :: Int, rb :: Obj, rc :: !Int, rd :: Obj, re :: !Obj }

busy :: Int -> Int
busy n = length (filter odd (map (* 3) [1 .. n]))
{-# NOINLINE busy #-}

slow :: Int -> a -> a
slow n x = if busy n > n then error "busy" else x
{-# NOINLINE slow #-}

two :: Int -> a -> b -> (a, b)
two n a b = slow n (a, b)
{-# NOINLINE two #-}

data Chain = Chain { link :: Obj, rest :: Chain }
chain :: Int -> Obj -> Chain -> Chain
chain n o c = slow n (Chain o c)
{-# NOINLINE chain #-}

rec_ :: Int -> Obj -> Rec
rec_ n o = slow n (Rec n o (n + 1) (slow n o) o)
{-# NOINLINE rec_ #-}

deep :: Int -> Int -> Obj -> Obj
deep 0 n o = unsafePerformIO (when (n .&. 7 == 0) performMinorGC >> when (n .&. 63 == 1) performMajorGC >> pure o)
deep k n o = case deep (k - 1) n o of Obj i b -> if i < 0 then error "deep" else Obj i b
{-# NOINLINE deep #-}

f3 :: Obj -> Int# -> Double# -> Int -> Obj
f3 o i d n = slow n (if isTrue# (i ># 1000000#) || isTrue# (d <## 0.0##) then error "f3" else o)
{-# NOINLINE f3 #-}
f6 :: Int# -> Int -> Obj -> Float# -> Obj -> Word# -> Int -> Obj
f6 i n a f b x k = if isTrue# (i <# 0#) || isTrue# (ltFloat# f 0.0#) || isTrue# (x `eqWord#` 1##) then slow n b else slow k a
{-# NOINLINE f6 #-}
f9 :: Int -> Obj -> Int -> Obj -> Int -> Obj -> Int -> Int -> Int -> Obj
f9 a o b p c q d e f = if a + b + c < 0 then p else if d + e + f < 0 then q else slow a o
{-# NOINLINE f9 #-}
fsum :: Int -> Obj -> (# Obj | Int# | (# Int#, Obj #) #)
fsum n@(I# n#) o = if odd n then (# o | | #) else (# | | (# n#, slow n o #) #)
{-# NOINLINE fsum #-}

apply1 :: (a -> b) -> a -> b
apply1 f x = f x
{-# NOINLINE apply1 #-}
apply2 :: (a -> b -> c) -> a -> b -> c
apply2 f x y = f x y
{-# NOINLINE apply2 #-}
apply4 :: (a -> b -> c -> d -> e) -> a -> b -> c -> d -> e
apply4 f a b c d = f a b c d
{-# NOINLINE apply4 #-}
applyN :: (Int# -> Double# -> Int -> Obj) -> Int -> Obj
applyN f n = f 5# 1.5## n
{-# NOINLINE applyN #-}

lazily :: Int -> Int -> Obj -> Box
lazily k n@(I# n#) o = case k of
  0 -> Box (fst (two n o n))
  1 -> Box (snd (fst (two 1 (two n n o) o)))
  2 -> Box (rb (rec_ n o))
  3 -> Box (rd (rec_ n o))
  4 -> Box (re (rec_ n o))
  5 -> let p = chain n o q
           q = chain 1 (link p) p in Box (link (rest (rest q)))
  6 -> let !p = two n o o
           x = fst p in Box (snd (two 0 p x))
  7 -> Box (deep (n * 7) n o)
  8 -> let g = f3 o in Box (apply1 (applyN g) n)
  9 -> let g = f6 n# n o 1.0# in Box (apply2 (\a b -> g a 3## b) o n)
  10 -> let g = f9 n o n o
            !h = apply2 g n o in Box (apply2 (apply1 h n) n n)
  11 -> Box (case fsum n o of { (# a | | #) -> a; (# | _ | #) -> error "sum"; (# | | (# _, a #) #) -> a })
  12 -> unsafePerformIO (Box <$> unsafeInterleaveIO (evaluate (slow n o)))
  13 -> unsafePerformIO (Box <$> unsafeDupableInterleaveIO (yield >> evaluate (slow n o)))
  14 -> Box (unsafeDupablePerformIO (evaluate (slow n o) `catch` \e -> evaluate (const o (e :: SomeException))))
  20 -> Box (unsafePerformIO (mask_ (evaluate (slow (n * 30) o))))
  15 -> let xs = o : map (slow n) xs in Box (xs !! (n `mod` 17))
  16 -> Box (apply4 (\a b c d -> slow (a - b) (if c > d + 1 then error "c" else o)) n 0 1 n)
  17 -> let !p = two n o (snd q)
            !q = two n (fst p) (snd p) in Box (if n < 0 then snd q else slow n (fst q)) -- snd q is a loop of selectors
  18 -> let go 0 p = p
            go j p = two 0 (snd p) (fst p) `seq` go (j - 1) (snd p, fst p)
        in Box (fst (go (2 * n :: Int) (o, o)))
  19 -> let ps = iterate (\p -> (fst p, snd p)) (two n o o) in Box (fst (ps !! (n * 20)))
  21 -> let !g = apply2 f9 n o
            !h = apply4 (apply1 g n) o n o n in Box (apply2 h 0 n)
  22 -> let !g = f6 n# n o 1.0# in Box (apply2 (\a b -> g a 3## b) o n)
  _ -> Box (slow n o)
{-# NOINLINE lazily #-}

shapes :: Int
shapes = 24

wrapped :: World -> Obj -> IO Obj
wrapped w o = rnd w 3 >>= \c -> if c == 0 then pure o else do
  k <- rnd w shapes
  n <- rnd w 30
  case lazily k n o of
    Box x -> do
      again <- rnd w 4
      if again == 0 then wrapped w x else pure x

-- A random object: its number and itself, perhaps not evaluated. Some of what it walks over is evaluated.
pick :: World -> IO (Int, Obj)
pick w = do
  s <- rnd w (rootCount w)
  o <- readAt (roots w) s
  i <- (M.! s) <$> readIORef (slots w)
  d <- rnd w 4
  walk d i o
 where
  walk 0 i o = pure (i, o)
  walk d i o = do
    m <- lookupM w i
    if elements m == 0 then pure (i, o) else do
      k <- rnd w (elements m)
      Obj _ b <- evaluate o
      x <- readAt b k
      walk (d - 1 :: Int) (elementAt m k) x

-- One for which the test holds, if it is soon found.
pickThat :: World -> (Model -> Bool) -> (Int -> Model -> Body -> IO ()) -> IO ()
pickThat w p f = go (6 :: Int)
 where
  go 0 = pure ()
  go k = do
    (i, o) <- pick w
    m <- lookupM w i
    if p m then evaluate o >>= \(Obj _ b) -> f i m b else go (k - 1)

place :: World -> Int -> Obj -> IO ()
place w i o = do
  s <- rnd w (rootCount w)
  x <- wrapped w o
  writeAt (roots w) s x
  modifyIORef' (slots w) (M.insert s i)

fresh :: World -> Model -> IO Int
fresh w m = do
  i <- readIORef (next w)
  writeIORef (next w) $! i + 1
  setM w i m
  pure i

make :: World -> Model -> Body -> IO ()
make w m b = fresh w m >>= \i -> place w i (Obj i b)

newArr, newSmall :: Int -> Obj -> IO Body
newArr (I# n) o = IO $ \s -> case newArray# n o s of (# s', a #) -> (# s', BArr a #)
newSmall (I# n) o = IO $ \s -> case newSmallArray# n o s of (# s', a #) -> (# s', BSmall a #)

newObject :: World -> IO ()
newObject w = do
  (i, o0) <- pick w
  o <- wrapped w o0
  k <- rnd w 15
  n <- sizeOf w
  case k of
    0 -> newIORef o >>= \(IORef (STRef v)) -> make w (MOne Var i) (BVar v)
    1 -> newMVar o >>= \(MVar v) -> make w (MOne MVar_ i) (BMVar v)
    2 -> IO (\s -> case newTVar# o s of (# s', v #) -> (# s', TVar v #)) >>= \(TVar v) -> make w (MOne TVar_ i) (BTVar v)
    3 -> newArr n o >>= make w (MArr Big False n i M.empty)
    4 -> newSmall n o >>= make w (MArr Small False n i M.empty)
    5 -> newBytes
    6 -> newBytes
    7 -> do
      ps <- replicateM (n `mod` 90) (pick w)
      xs <- mapM (wrapped w . snd) ps
      make w (MList (map fst ps)) (BList xs)
    8 -> newFun
    9 -> do
      (j, p) <- pick w
      x <- wrapped w p
      mj <- lookupM w j
      c <- rnd w 6
      let (is, b) = case c of
            0 -> ([], X0)
            1 -> ([i], X1 o)
            2 -> ([i], X2 77# o)
            3 -> ([i, j], X3 o 2.5## x)
            4 -> ([i, j, i], X4 o x o)
            _ | MRaise _ <- mj -> ([i], X1 o)
              | otherwise -> ([j, i], X5 x 5# -6# 1.5# 'y'# o)
      evaluate b >>= make w (MList is) . BMix
    10 -> newTree
    11 -> newStablePtr o >>= make w (MOne Stable i) . BStable
    12 -> do
      e <- rnd w 1000
      j <- fresh w (MRaise e)
      place w j (slow (e `mod` 20) (throw (Boom e)))
    _ -> place w i o
 where
  newFun = do
    a <- rnd w 100
    b <- rnd w 100
    let !(I# a#) = a
        !d = fromIntegral b :: Double
    c <- rnd w 5
    make w (MFun a b 0) . BFun =<< evaluate (case c of
      0 -> \x -> a * x + b
      1 -> apply1 (fun3 a) b
      2 -> \x -> I# a# * x + truncate d
      3 -> apply2 (\p q r -> fst p * r + q) (two 3 a a) b
      _ -> (+ b) . (* a))
  newBytes = do
    n <- (* 8) . min 5000 <$> sizeOf w
    cut <- rnd w 8
    seed <- rnd w 200
    pin <- rnd w 3
    let !size@(I# n#) = max 0 (n - cut)
    b <- IO $ \s -> case (case pin of { 0 -> newPinnedByteArray# n# s; 1 -> newAlignedPinnedByteArray# n# 64# s; _ -> newByteArray# n# s }) of
      (# s', a #) -> (# s', BBytes a #)
    fillBytes b seed 0 size
    make w (MBytes size seed M.empty) b
  newTree = do
    n <- rnd w 60
    c <- rnd w 3
    let t = slow 5 (tree 1 n)
    case c of
      0 -> make w (MTree n) (BTree Nothing t)
      1 -> compact t >>= \r -> make w (MTree n) (BTree (Just r) (getCompact r))
      -- Only a part of what is in the region keeps the region.
      _ -> do
        r <- (if even n then compactWithSharing else compact) (Tree t 0 "top" Leaf)
        case getCompact r of
          Tree t' _ _ _ -> make w (MTree n) (BTree Nothing t')
          Leaf -> wrong "leaf"

fun3 :: Int -> Int -> Int -> Int
fun3 a b x = a * x + b
{-# NOINLINE fun3 #-}

tree :: Int -> Int -> Tree
tree lo hi | lo > hi = Leaf
           | otherwise = let m = (lo + hi) `div` 2 in Tree (tree lo (m - 1)) m (show m) (tree (m + 1) hi)

treeOk :: Int -> Int -> Tree -> Bool
treeOk lo hi Leaf = lo > hi
treeOk lo hi (Tree a m s b) = lo <= hi && m == (lo + hi) `div` 2 && s == show m && treeOk lo (m - 1) a && treeOk (m + 1) hi b

byteAt :: Int -> Int -> Int
byteAt seed i = (seed * 31 + i * 7 + i `shiftR` 8) .&. 255

fillBytes :: Body -> Int -> Int -> Int -> IO ()
fillBytes (BBytes a) seed from to = forM_ [from .. to - 1] $ \i -> writeByte a i (byteAt seed i)
fillBytes _ _ _ _ = wrong "not bytes"

writeByte :: MutableByteArray# RealWorld -> Int -> Int -> IO ()
writeByte a (I# i) (I# v) = io_ (writeWord8Array# a i (int2Word# v))
readByte :: MutableByteArray# RealWorld -> Int -> IO Int
readByte a (I# i) = IO $ \s -> case readWord8Array# a i s of (# s', v #) -> (# s', I# (word2Int# v) #)

-- Is this object what the model says, as deep as that?
verify :: World -> Int -> Int -> Obj -> IO ()
verify w depth i o = do
  m <- lookupM w i
  case m of
    MRaise e -> forM_ "12" $ \_ -> do
      r <- try (evaluate o)
      require w (either (== Boom e) (const False) r) ("exception of " ++ show i)
    _ -> do
      Obj j b <- evaluate o
      require w (i == j) ("object " ++ show j ++ " instead of " ++ show i)
      verifyBody w depth i m b

verifyBody :: World -> Int -> Int -> Model -> Body -> IO ()
verifyBody w depth i m b = case (m, b) of
  (MBytes size seed over, BBytes a) -> do
    n <- IO $ \s -> case getSizeofMutableByteArray# a s of (# s', k #) -> (# s', I# k #)
    require w (n == size) ("bytes of " ++ show i)
    ok <- forM (takeEvery size) $ \k -> (== M.findWithDefault (byteAt seed k) k over) <$> readByte a k
    require w (and ok) ("content of bytes " ++ show i)
  (MFun x y _, BFun f) -> require w (map f [1 .. 5] == [ x * k + y | k <- [1 .. 5] ]) ("function " ++ show i)
  (MTree n, BTree _ t) -> require w (treeOk 1 n t) ("tree " ++ show i)
  _ -> do
    case b of
      BArr a -> require w (I# (sizeofMutableArray# a) == elements m) ("size of array " ++ show i)
      BSmall a -> do
        n <- IO $ \s -> case getSizeofSmallMutableArray# a s of (# s', k #) -> (# s', I# k #)
        require w (n == elements m) ("size of small array " ++ show i)
      BMix x -> require w (sound x) ("words of " ++ show i)
      _ -> pure ()
    when (depth > 0) $ forM_ (takeEvery (elements m)) $ \k -> readAt b k >>= verify w (depth - 1) (elementAt m k)
 where
  takeEvery n | depth > 8 || n < 12 = [0 .. n - 1]
              | otherwise = [0, 1 + i `mod` 7 .. n - 1] `orLess` (n `div` 9 + 1)
  orLess xs k = if length xs > 40 then [ x | x <- xs, x `mod` k == 0 || x `mod` 61 == 5 ] else xs

-- What the model says is reachable: from the roots, from what stacks hold, and values of weak pointers from their keys.
reachable :: World -> IO S.IntSet
reachable w = do
  m <- readIORef (model w)
  rs <- M.elems <$> readIORef (slots w)
  hs <- readIORef (held w)
  ws <- readIORef (weaks w)
  let go seen [] = seen
      go seen (i : is) | i `S.member` seen = go seen is
                       | otherwise = go (S.insert i seen) (maybe [] children (M.lookup i m) ++ is)
      close seen = let more = [ valueOf e | e <- ws, keyOf e `S.member` seen, not (valueOf e `S.member` seen) ]
                   in if null more then seen else close (go seen more)
  pure $! close (go S.empty (rs ++ hs))

-- Weak pointers whose keys are reachable are alive and not finalized; dead ones are forgotten.
verifyWeaks :: World -> IO ()
verifyWeaks w = do
  live <- reachable w
  ws <- readIORef (weaks w)
  kept <- forM ws $ \e -> do
    v <- deRefWeak (weak e)
    n <- readIORef (finalized e)
    case v of
      Just o -> do
        r <- try (evaluate o)
        case r of
          Right (Obj j _) -> require w (j == valueOf e) "value of a weak pointer"
          Left (Boom _) -> pure ()
        pure [ e | keyOf e `S.member` live ]
      Nothing -> do
        require w (not (keyOf e `S.member` live)) ("weak pointer to " ++ show (keyOf e) ++ " is dead")
        require w (n <= 1) "finalized twice"
        pure []
  forM_ ws $ \e -> when (keyOf e `S.member` live) $ readIORef (finalized e) >>= \n -> require w (n == 0) "finalized while reachable"
  writeIORef (weaks w) (concat kept)
  -- The model forgets what the program cannot reach either.
  live' <- reachable w
  modifyIORef' (model w) (`M.restrictKeys` live')
  modifyIORef' (names w) (`M.restrictKeys` live')

newWeak :: World -> IO ()
newWeak w = pickThat w hasIdentity $ \i _ b -> do
  (j, o) <- pick w
  n <- newIORef 0
  x <- wrapped w o
  let !fin = \s -> case unIO (modifyIORef' n (+ 1) >> void (try (evaluate x) :: IO (Either Boom Obj))) s of (# s', _ #) -> (# s', () #)
      mk :: (State# RealWorld -> (# State# RealWorld, Weak# Obj #)) -> IO (Weak Obj)
      mk f = IO $ \s -> case f s of (# s', p #) -> (# s', Weak p #)
  p <- case b of
    BVar k -> mk (mkWeak# k x fin)
    BMVar k -> mk (mkWeak# k x fin)
    BTVar k -> mk (mkWeak# k x fin)
    BArr k -> mk (mkWeak# k x fin)
    BSmall k -> mk (mkWeakNoFinalizer# k x)
    BBytes k -> mk (mkWeak# k x fin)
    _ -> wrong "key"
  modifyIORef' (weaks w) (Ephemeron i j p n :)
 where unIO (IO f) = f

hasIdentity :: Model -> Bool
hasIdentity (MOne k _) = k /= Stable
hasIdentity MArr {} = True
hasIdentity MBytes {} = True
hasIdentity _ = False

-- The same object has the same stable name for as long as it lives.
stableName :: World -> IO ()
stableName w = pickThat w hasIdentity $ \i _ b -> do
  n <- case b of
    BVar k -> name (unsafeCoerce# k)
    BMVar k -> name (unsafeCoerce# k)
    BTVar k -> name (unsafeCoerce# k)
    BArr k -> name (unsafeCoerce# k)
    BSmall k -> name (unsafeCoerce# k)
    BBytes k -> name (unsafeCoerce# k)
    _ -> wrong "named"
  old <- readIORef (names w)
  forM_ (M.toList old) $ \(j, n') -> require w ((n == n') == (i == j)) ("stable names of " ++ show (i, j))
  when (M.size old < 24) $ writeIORef (names w) (M.insert i n old)
 where
  name :: Any -> IO (StableName Any)
  name x = IO $ \s -> case makeStableName# x s of (# s', n #) -> (# s', StableName n #)

mutate :: World -> IO ()
mutate w = pickThat w mutable $ \i m b -> do
  (j, o) <- pick w
  x <- wrapped w o
  k <- rnd w (elements m)
  c <- rnd w 6
  case (b, c) of
    (BVar v, 0) -> do
      old <- readAt b 0
      ok <- IO $ \s -> case casMutVar# v old x s of (# s', r, _ #) -> (# s', isTrue# (r ==# 0#) #)
      if ok then set i m k j else writeAt b k x >> set i m k j
    (BVar v, 1) -> atomicModifyIORef (IORef (STRef v)) (\_ -> (x, ())) >> set i m k j
    (BVar v, 2) -> atomicModifyIORef' (IORef (STRef v)) (\old -> (old, ())) `catch` \(Boom _) -> pure ()
    (BVar v, 3) -> modifyIORef (IORef (STRef v)) (\_ -> slow 3 x) >> set i m k j
    (BArr a, 0) -> do
      old <- readAt b k
      let !(I# k#) = k
      ok <- IO $ \s -> case casArray# a k# old x s of (# s', r, _ #) -> (# s', isTrue# (r ==# 0#) #)
      unless ok (writeAt b k x)
      set i m k j
    (BSmall a, 0) -> do
      old <- readAt b k
      let !(I# k#) = k
      ok <- IO $ \s -> case casSmallArray# a k# old x s of (# s', r, _ #) -> (# s', isTrue# (r ==# 0#) #)
      unless ok (writeAt b k x)
      set i m k j
    (BSmall a, 1) | k > 0, MArr q f _ d over <- m -> do
      let !(I# k#) = k
      io_ (shrinkSmallMutableArray# a k#)
      setM w i (MArr q f k d (fst (M.split k over)))
    _ -> writeAt b k x >> set i m k j
 where
  mutable (MOne k _) = k /= Stable
  mutable (MArr _ frozen n _ _) = not frozen && n > 0
  mutable _ = False
  set i (MOne q _) _ j = setM w i (MOne q j)
  set i (MArr q f n d over) k j = setM w i (MArr q f n d (M.insert k j over))
  set _ _ _ _ = wrong "set"

-- Copies between arrays and within one, clones, freezing and thawing in place.
arrays :: World -> IO ()
arrays w = pickThat w isArr $ \i m b -> case m of
  MArr q frozen n d over -> do
    c <- rnd w 6
    from <- if n == 0 then pure 0 else rnd w n
    len <- if n == 0 then pure 0 else rnd w (n - from + 1)
    let !(I# f#) = from
        !(I# l#) = len
        part = M.mapKeysMonotonic (subtract from) (fst (M.split (from + len) (snd (M.split (from - 1) over))))
    case c of
      0 | not frozen -> do
        case b of
          BArr a -> io_ (\s -> case unsafeFreezeArray# a s of (# s', _ #) -> s')
          BSmall a -> io_ (\s -> case unsafeFreezeSmallArray# a s of (# s', _ #) -> s')
          _ -> pure ()
        setM w i (MArr q True n d over)
      1 | frozen -> do
        case b of
          BArr a -> io_ (\s -> case unsafeThawArray# (unsafeCoerce# a) s of (# s', _ #) -> s')
          BSmall a -> io_ (\s -> case unsafeThawSmallArray# (unsafeCoerce# a) s of (# s', _ #) -> s')
          _ -> pure ()
        setM w i (MArr q False n d over)
      2 -> do
        b' <- case b of
          BArr a -> IO $ \s -> case cloneMutableArray# a f# l# s of (# s', x #) -> (# s', BArr x #)
          BSmall a -> IO $ \s -> case cloneSmallMutableArray# a f# l# s of (# s', x #) -> (# s', BSmall x #)
          _ -> wrong "clone"
        make w (MArr q False len d part) b'
      3 | len < 300 -> do
        b' <- case b of
          BArr a -> IO $ \s -> case freezeArray# a f# l# s of (# s', x #) -> (# s', BFrozen x #)
          BSmall a -> IO $ \s -> case freezeSmallArray# a f# l# s of (# s', x #) -> (# s', BSmallFrozen x #)
          _ -> wrong "freeze"
        make w (MList [ M.findWithDefault d k part | k <- [0 .. len - 1] ]) b'
      4 -> do
        b' <- case b of
          BArr a -> IO $ \s -> case thawArray# (unsafeCoerce# a) f# l# s of (# s', x #) -> (# s', BArr x #)
          BSmall a -> IO $ \s -> case thawSmallArray# (unsafeCoerce# a) f# l# s of (# s', x #) -> (# s', BSmall x #)
          _ -> wrong "thaw"
        make w (MArr q False len d part) b'
      _ -> pickThat w (\x -> isArr x && not (isFrozen x)) $ \i' m' b' -> case m' of
        MArr q' _ n' d' over' | q == q', n' > 0 -> do
          to <- rnd w n'
          let !len'@(I# l'#) = min len (n' - to)
              !(I# t#) = to
          case (b, b') of
            (BArr x, BArr y) -> io_ (copyMutableArray# x f# y t# l'#)
            (BSmall x, BSmall y) -> io_ (copySmallMutableArray# x f# y t# l'#)
            _ -> wrong "copy"
          let new = M.fromDistinctAscList [ (to + k, M.findWithDefault d k part) | k <- [0 .. len' - 1] ]
          setM w i' (MArr q' False n' d' (M.union new over'))
        _ -> pure ()
  _ -> pure ()
 where
  isArr MArr {} = True
  isArr _ = False
  isFrozen (MArr _ f _ _ _) = f
  isFrozen _ = False

bytes :: World -> IO ()
bytes w = pickThat w isBytes $ \i m b -> case (m, b) of
  (MBytes size seed over, BBytes a) -> do
    k <- rnd w (size + 1)
    c <- rnd w 4
    v <- rnd w 256
    let !(I# k#) = k
    case c of
      0 -> do
        io_ (shrinkMutableByteArray# a k#)
        setM w i (MBytes k seed (fst (M.split k over)))
      -- A copy grows; the array that comes back may be another one.
      1 | size < 3000 -> do
        grown <- IO $ \s -> case newByteArray# k# s of
          (# s1, copy #) -> case copyMutableByteArray# a 0# copy 0# k# s1 of
            s2 -> case resizeMutableByteArray# copy (k# +# 40#) s2 of (# s3, x #) -> (# s3, BBytes x #)
        fillBytes grown seed k (k + 40)
        make w (MBytes (k + 40) seed (fst (M.split k over))) grown
      _ | k < size -> writeByte a k v >> setM w i (MBytes size seed (M.insert k v over))
      _ -> pure ()
  _ -> pure ()
 where
  isBytes MBytes {} = True
  isBytes _ = False

-- A region grows, and what it held before stays.
grow :: World -> IO ()
grow w = pickThat w isTree $ \i m b -> case (m, b) of
  (MTree n, BTree (Just r) t) | n < 200 -> do
    r' <- compactAdd r (Tree t 0 (show i) (tree 1 (n + 30)))
    case getCompact r' of
      Tree t' _ _ t2 -> do
        make w (MTree n) (BTree Nothing t')
        make w (MTree (n + 30)) (BTree Nothing t2)
      Leaf -> wrong "leaf"
    within <- inCompact r (getCompact r')
    require w within "in its region"
  _ -> pure ()
 where
  isTree MTree {} = True
  isTree _ = False

-- Goes on within frames that hold objects and words, below a handler, and looks at what they held afterwards.
nested :: World -> Int -> IO ()
nested w depth = do
  ps <- replicateM 12 (pick w)
  saved <- readIORef (held w)
  writeIORef (held w) (map fst ps ++ saved)
  n <- rnd w 30
  leave <- rnd w 3
  case ps of
    [(i0, a0), (i1, a1), (i2, a2), (i3, a3), (i4, a4), (i5, a5), (i6, a6), (i7, a7), (i8, a8), (i9, a9), (i10, a10), (i11, a11)] -> do
      r <- try $ (if even leave then mask_ else id) $ do
        replicateM_ n (step w (depth + 1))
        when (leave == 0) $ throwIO Stop
        pure (busy n)
      case r of
        Left Stop -> pure ()
        Right k -> require w (k == busy n) "result"
      sequence_ (zipWith (verify w 1) [i0, i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11] [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11])
    _ -> wrong "twelve"
  writeIORef (held w) saved

-- Nested frames without handlers, each with words in it.
stacked :: World -> Int -> Int -> IO Int
stacked w depth 0 = replicateM_ 4 (step w (depth + 1)) >> pure 0
stacked w depth n@(I# n#) = do
  (i, o) <- pick w
  saved <- readIORef (held w)
  writeIORef (held w) (i : saved)
  let !d = int2Double# n#
  k <- stacked w depth (n - 1)
  verify w 0 i o
  writeIORef (held w) saved
  require w (D# d == fromIntegral n && k == n - 1) "frame"
  pure (k + 1)

-- A frame whose layout needs more than a word.
wide :: World -> Int -> IO ()
wide w depth = do
  ps <- replicateM 72 (pick w)
  saved <- readIORef (held w)
  writeIORef (held w) (map fst ps ++ saved)
  case ps of
    [ p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11,
       p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23,
       p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35,
       p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47,
       p48, p49, p50, p51, p52, p53, p54, p55, p56, p57, p58, p59,
       p60, p61, p62, p63, p64, p65, p66, p67, p68, p69, p70, p71 ] -> do
      replicateM_ 3 (step w (depth + 1))
      sequence_ [ verify w 0 i o | (i, o) <-
       [ p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11,
       p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23,
       p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35,
       p36, p37, p38, p39, p40, p41, p42, p43, p44, p45, p46, p47,
       p48, p49, p50, p51, p52, p53, p54, p55, p56, p57, p58, p59,
       p60, p61, p62, p63, p64, p65, p66, p67, p68, p69, p70, p71 ] ]
    _ -> wrong "seventy-two"
  writeIORef (held w) saved

-- Another thread evaluates some objects and is stopped at it, wherever it is.
interrupted :: World -> IO ()
interrupted w = do
  xs <- replicateM 4 (pick w >>= wrapped w . slow 400 . snd)
  n <- rnd w 3
  done <- newEmptyMVar
  t <- mask_ $ forkIOWithUnmask $ \unmask ->
    unmask (forM_ xs (\x -> void (evaluate x) `catch` \(Boom _) -> pure ())) `finally` putMVar done ()
  replicateM_ n yield
  when (n == 2) performMinorGC
  killThread t
  takeMVar done
  forM_ xs $ \x -> void (evaluate x) `catch` \(Boom _) -> pure ()

step :: World -> Int -> IO ()
step w depth = do
  c <- rnd w 64
  case c of
    _ | c < 18 -> newObject w
      | c < 32 -> mutate w
      | c < 40 -> arrays w
      | c < 44 -> bytes w
    44 -> grow w
    45 -> newWeak w
    46 -> newWeak w
    47 -> stableName w
    48 | depth < 3 -> nested w depth
    49 | depth < 3 -> rnd w 40 >>= void . stacked w depth
    50 -> interrupted w
    55 | depth < 3 -> wide w depth
    51 -> performMinorGC
    52 -> rnd w 12 >>= \k -> if k == 0 then performMajorGC >> verifyWeaks w else performMinorGC
    53 -> rnd w 6 >>= \k -> when (k == 0) (verifyWeaks w)
    54 -> rnd w 3000 >>= \k -> require w (busy k == (k + 1) `div` 2) "garbage"
    _ -> pick w >>= \(i, o) -> verify w 2 i o

run :: Int -> Int -> IO ()
run seed steps = do
  let start = Obj 0 (BFun (fun3 3 4))
      places = max 48 (steps `div` 30)
  b <- newArr places start
  w <- World places <$> newIORef (fromIntegral seed * 7919 + 1) <*> newIORef 1 <*> newIORef (M.singleton 0 (MFun 3 4 0))
       <*> newIORef (M.fromList [ (i, 0) | i <- [0 .. places - 1] ]) <*> pure b
       <*> newIORef [] <*> newIORef [] <*> newIORef M.empty <*> newIORef 0
  replicateM_ steps (step w 0)
  performMajorGC
  verifyWeaks w
  -- In the end all that is reachable, each object once, all of its elements.
  seen <- newIORef S.empty
  let whole i o = do
        old <- readIORef seen
        unless (i `S.member` old) $ do
          writeIORef seen (S.insert i old)
          m <- lookupM w i
          verify w 0 i o
          unless (elements m == 0) $ evaluate o >>= \(Obj _ x) ->
            forM_ [0 .. elements m - 1] $ \k -> do
              e <- readAt x k
              me <- lookupM w (elementAt m k)
              case me of
                MRaise _ -> verify w 0 (elementAt m k) e
                _ -> evaluate e >>= \(Obj j _) -> require w (j == elementAt m k) "element"
              whole (elementAt m k) e
  ss <- readIORef (slots w)
  forM_ (M.toList ss) $ \(s, i) -> readAt (roots w) s >>= whole i
  made <- readIORef (next w)
  n <- S.size <$> readIORef seen
  r <- rnd w 1000000
  putStrLn (unwords ["seed", show seed, "made", show made, "alive", show n, "last", show r])

main :: IO ()
main = do
  args <- getArgs
  case map read args of
    [from, to, steps] -> forM_ [from .. to] (`run` steps)
    _ -> wrong "arguments"
