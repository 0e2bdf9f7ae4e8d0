# Values and functions of compiled programs after a journey on which every reference was cut that may be cut: they come
# back piece by piece, when they are entered. What may not travel is refused.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
{-# LANGUAGE BangPatterns, ExistentialQuantification #-}
module Main (main) where
import Control.Concurrent.MVar
import Control.Exception
import Data.Array
import Data.Array.ST
import Data.Array.Unboxed (UArray)
import qualified Data.Array.Unboxed as U
import qualified Data.ByteString.Char8 as B
import Data.IORef
import qualified Data.IntMap as I
import Data.List
import qualified Data.Map as M
import Data.Ratio
import qualified Data.Text as T
import Foreign.Ptr
import Foreign.StablePtr
import System.Environment
import System.Mem
import Text.Read

foreign import ccall unsafe "hec_rehearsed_returns" returns :: IO Int
foreign import ccall unsafe "hec_rehearse_travel" rehearse :: StablePtr a -> IO (Ptr ())

travel :: a -> IO (Maybe a)
travel a = do
  before <- newStablePtr a
  there <- rehearse before
  freeStablePtr before
  if there == nullPtr then return Nothing else Just <$> deRefStablePtr (castPtrToStablePtr there)

-- Evaluates the value as far as `see` does, lets it travel, and compares what `see` sees.
check :: (Eq b, Show b) => String -> (a -> b) -> a -> IO ()
check name see a = do
  let !before = see a
  _ <- evaluate (length (show before))
  go name see before a

-- The same for a value of which nothing more than its head is evaluated.
lazily :: (Eq b, Show b) => String -> (a -> b) -> a -> a -> IO ()
lazily name see same a = do
  _ <- evaluate a
  let !before = see same
  _ <- evaluate (length (show before))
  go name see before a

go :: (Eq b, Show b) => String -> (a -> b) -> b -> a -> IO ()
go name see before a = do
  back <- travel a
  performMajorGC
  case back of
    Nothing -> putStrLn (name ++ ": stays")
    Just b -> do
      let after = see b
      putStrLn (name ++ ": " ++ if after == before then "ok" else "WRONG " ++ take 200 (show after))
      performMinorGC
      putStrLn (name ++ ": " ++ if see b == before then "ok" else "WRONG at last")

data T a = Leaf | Node (T a) a (T a) deriving (Eq, Show)
data S = S {-# UNPACK #-} !Int !Double [Int] | A | C | D | E | F | G | H Int | J deriving (Eq, Show)
data Expr = Num Int | Add Expr Expr | Mul Expr Expr | Var String | Let String Expr Expr deriving (Eq, Show)

tree :: Int -> Int -> T Int
tree a b | a > b = Leaf
         | otherwise = let m = (a + b) `div` 2 in Node (tree a (m - 1)) m (tree (m + 1) b)

eval :: M.Map String Int -> Expr -> Int
eval _ (Num n) = n
eval e (Add a b) = eval e a + eval e b
eval e (Mul a b) = eval e a * eval e b
eval e (Var v) = e M.! v
eval e (Let v a b) = eval (M.insert v (eval e a) e) b

expr :: Int -> Expr
expr 0 = Var "x"
expr n = Let "x" (Add (Var "x") (Num n)) (Mul (Add (expr (n - 1)) (Num n)) (Num 3))

{-# NOINLINE adders #-}
adders :: Int -> [Int -> Int -> Int]
adders n = [ \x y -> let !z = x * k in foldl' (+) z [m, y] + k | k <- [1 .. n], let m = k * k + n ]

-- Chains of functions and of thunks.
compose :: Int -> Int -> Int
compose n = foldr (\k f -> f . (+ k)) id [1 .. n]

parser :: [(String, Int -> Int)]
parser = [("double", (* 2)), ("next", succ), ("power", \n -> product (replicate 5 n))]

unboxed :: Int -> UArray Int Int
unboxed n = runSTUArray (do
  a <- newArray (0, n) 0
  mapM_ (\i -> writeArray a i (i * i)) [0 .. n]
  return a)

class Shape s where { area :: s -> Double; name :: s -> String }
newtype Square = Square Double
newtype Circle = Circle Double
instance Shape Square where { area (Square a) = a * a; name _ = "square" }
instance Shape Circle where { area (Circle r) = 3 * r * r; name _ = "circle" }
data Any = forall s. Shape s => Any s

main :: IO ()
main = do
  args <- getArgs
  let n = case args of { [a] -> read a; _ -> 1 } :: Int
  check "list" id [1 .. 1000 * n]
  check "string" id (concatMap show [1 .. 300 * n])
  check "tree" id (tree 1 (1000 * n))
  check "map" M.toList (M.fromList [(show k, [k .. k + 3]) | k <- [1 .. 300 * n]])
  check "intmap" (I.lookup 77) (I.fromList [(k, replicate 3 k) | k <- [1 .. 500 * n]])
  check "integer" id [2 ^ (300 * n) `div` 7, negate (3 ^ (200 * n)), fromIntegral n]
  check "ratio" id (sum [1 % k | k <- [1 .. 50 * toInteger n]])
  check "text" id (map (T.pack . show) [1 .. 100 * n])
  check "bytes" (map B.unpack) (map (B.pack . show) [1000 .. 1000 + 100 * n])
  check "long bytes" B.unpack (B.pack (take 20000 (cycle "abcdefghijklm")))
  check "literal" B.unpack (B.pack "")
  check "records" id [S n 2.5 [n], A, C, D, E, F, G, H n, J]
  check "array" elems (listArray (0, 999) (map (* n) [0 .. 999]))
  check "unboxed" U.elems (unboxed 1000)
  check "expression" (eval (M.fromList [("x", 1)])) (expr (5 * n))
  lazily "lazy list" (take 500) (map (* n) [1 ..]) (map (* n) [1 ..])
  lazily "primes" (take 50) (sieve [n + 1 ..]) (sieve [n + 1 ..])
  lazily "lazy map" M.elems (lazyMap n) (lazyMap n)
  lazily "adders" (map (\f -> f 3 n)) (adders 50) (adders 50)
  check "functions" (map (\f -> f 3 n)) (adders (50 + n))
  check "composition" ($ n) (compose 100)
  lazily "partial" (map ($ n)) (map three [1 .. 20]) (map three [1 .. 20])
  check "table" (map (\(s, f) -> (s, f n))) parser
  check "dictionaries" (map (\(Any s) -> (name s, area s))) [Any (Square 2), Any (Circle (fromIntegral n))]
  check "reads" (\r -> r (show [n]) :: Maybe [Int]) (readMaybe :: String -> Maybe [Int])
  check "knot" (take 100) (let xs = n : map (+ 1) xs in xs)
  let ys = 1 : 2 : ys in check "cycle" (take 100) (ys :: [Int])
  travel (throw Overflow : [n])   >>= \back -> case back of
    Nothing -> putStrLn "exception: stays"
    Just xs -> try (evaluate (head xs)) >>= \r -> print (r :: Either ArithException Int)
  var <- newIORef n
  stays "reference" var
  stays "function with a reference" (\x -> atomicModifyIORef var (\v -> (v + x, v)))
  stays "pointer" (nullPtr `plusPtr` (12345 + n) :: Ptr Int)
  returns >>= \count -> putStrLn (show count ++ " returns")
 where
  sieve (p : xs) = p : sieve [x | x <- xs, x `mod` p /= 0]
  sieve [] = []
  lazyMap n = M.fromList [(k, let q = k * n in sum [q .. q + 10]) | k <- [1 .. 100]]

{-# NOINLINE three #-}
three :: Int -> Int -> Int
three a b = a * 100 + b

stays :: String -> a -> IO ()
stays name a = do
  _ <- evaluate a
  back <- travel a
  putStrLn (name ++ maybe ": stays" (const ": WRONG, travels") back)
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package containers -package array -package bytestring -package text -outputdir o \
    -o main Main.hs
./main >out 2>err || fail "exit $?: $(tail -5 err)"
! grep -n WRONG out || fail "values that differ"
for name in reference 'function with a reference' pointer; do
    grep -q "^$name: stays$" out || fail "$name travels"
done
[ "$(grep -c ': stays$' out)" = 3 ] || fail "stay: $(grep ': stays$' out)"
[ "$(grep -c ': ok$' out)" = 54 ] || fail "came back: $(grep -c ': ok$' out)"
HECATON_CHECK=heap ./main | diff - out || fail 'with the heap checker'

# Chains as long as programs make them. Functions need the ones that they know, so these travel whole. Of a list no more
# is looked at than the budget allows.
cat >Chains.hs <<'HS'
{-# LANGUAGE BangPatterns #-}
module Main (main) where
import Control.Exception
import Data.Word
import Foreign.C.Types
import Foreign.Marshal.Array
import Foreign.Ptr
import Foreign.StablePtr
import System.Environment

foreign import ccall unsafe "hec_measure_packing" c_pack :: StablePtr a -> CSize -> Ptr Word64 -> IO CBool

-- Prints the bytes of the packet. Returns the nanoseconds that packing took.
pack :: String -> CSize -> a -> IO Word64
pack name budget a = do
  _ <- evaluate a
  pointer <- newStablePtr a
  [bytes, time, _] <- allocaArray 3 (\p -> c_pack pointer budget p >> peekArray 3 p)
  freeStablePtr pointer
  putStrLn (name ++ " " ++ show bytes)
  return time

functions :: Int -> (Int -> Int) -> Int -> Int
functions 0 !f = f
functions n !f = functions (n - 1) (\x -> f (x + n))

{-# NOINLINE apply #-}
apply :: (Int -> Int) -> Int -> Int
apply f x = f (x + 1)

-- Code that does not know its function makes partial applications.
{-# NOINLINE applications #-}
applications :: ((Int -> Int) -> Int -> Int) -> Int -> (Int -> Int) -> Int -> Int
applications _ 0 f = f
applications h n f = case h f of !g -> applications h (n - 1) g

thunks :: Int -> Int -> [Int]
thunks n k = scanl (+) k [1 .. n]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let many = 1000000 * n
      f = functions many (+ n)
      g = applications apply many (+ n)
      xs = thunks many n
      list = [n .. 10 * many]
  _ <- pack "functions" 16384 f
  _ <- pack "applications" 16384 g
  _ <- pack "all-applications" 1000000000 g
  _ <- evaluate (length xs)
  _ <- pack "thunks" 16384 [last xs]
  _ <- evaluate (length list)
  times <- mapM (const (pack "list" 16384 list)) [1 .. 3 :: Int]
  -- To walk it would take longer.
  putStrLn ("quick " ++ show (fromEnum (minimum times < 20000000)))
  print (f 1, g 1, last xs, length list)
HS
"$HECATON" ghc -v0 -O -threaded -rtsopts -outputdir c -o chains Chains.hs
timeout 60 ./chains 1 +RTS -M3g >out || fail "chains: exit $?"
expect() {
    awk -v name="$1" -v from="$2" -v to="$3" '$1 == name && ($2 < from || $2 > to) { bad = 1 } $1 == name { found = 1 }
        END { exit bad || !found }' out || fail "$1: not from $2 to $3 in $(cat out)"
}
expect functions 24000000 24100000
expect applications 16384 17000
expect all-applications 32000000 32100000
expect thunks 0 200
expect list 16384 17000
expect quick 1 1
grep -qx '(500000500002,1000002,500000500001,10000000)' out || fail "values: $(cat out)"

# Arrays that are thawed after they have travelled: those changed in place travel again, and those that others have
# copies of are not changed. And what users are told of values that stay.
cat >Elsewhere.hs <<'HS'
{-# LANGUAGE MagicHash, UnboxedTuples #-}
module Main (main) where
import Control.Concurrent.MVar
import Control.Exception
import Data.IORef
import Foreign.Marshal.Alloc
import GHC.Exts
import GHC.IO (IO (..))
import System.IO
import Hecaton.Cluster

data A = A (Array# Int)
data S = S (SmallArray# Int)

class Frozen a where
  new :: Int -> IO a
  change :: a -> IO a
  total :: a -> Int

instance Frozen A where
  new x = IO (\s -> case newArray# 3# x s of (# t, m #) -> case unsafeFreezeArray# m t of (# u, a #) -> (# u, A a #))
  change (A a) = IO (\s -> case unsafeThawArray# a s of
    (# t, m #) -> case unsafeFreezeArray# m (writeArray# m 1# 1000 t) of (# u, b #) -> (# u, A b #))
  total (A a) = sum [case indexArray# a i of (# x #) -> x | I# i <- [0 .. 2]]

instance Frozen S where
  new x = IO (\s -> case newSmallArray# 3# x s of
    (# t, m #) -> case unsafeFreezeSmallArray# m t of (# u, a #) -> (# u, S a #))
  change (S a) = IO (\s -> case unsafeThawSmallArray# a s of
    (# t, m #) -> case unsafeFreezeSmallArray# m (writeSmallArray# m 1# 1000 t) of (# u, b #) -> (# u, S b #))
  total (S a) = sum [case indexSmallArray# a i of (# x #) -> x | I# i <- [0 .. 2]]

there :: IO a -> IO a
there action = remoteOn (PE 1) action >>= await

try2 :: Frozen a => IO a -> (Int -> IO a) -> IO ()
try2 made newThere = do
  a <- made
  before <- there (evaluate (total a))
  b <- change a
  after <- there (evaluate (total b))
  c <- newThere 7
  _ <- evaluate (total c)
  d <- change c
  print (before, after, total c, total d)

data Held a = Held Int a

-- What is said when another PE needs the value.
refused :: a -> IO ()
refused a = do
  let held = Held 1 a
  result <- try (there (case held of Held n b -> evaluate b >> return n))
  print (result :: Either NotTransferable Int)

main :: IO ()
main = do
  newIORef 'x' >>= refused
  -- The handle travels, and what it has in its MVar does not.
  handle <- openFile "/dev/null" ReadMode
  result <- try (there (hGetEcho handle >>= print >> hGetLine handle >> return 1))
  print (result :: Either NotTransferable Int)
  allocaBytes 8 (refused :: Ptr Int -> IO ())
  try2 (new 5 :: IO A) (there . new)
  try2 (new 5 :: IO S) (there . new)
HS
"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -outputdir e -o elsewhere Elsewhere.hs
timeout 60 "$HECATON" spread -n 2 ./elsewhere >out || fail "elsewhere: exit $?"
diff - out <<'TXT' || fail "elsewhere"
Left not transferable: an IORef or STRef (GHC.STRef.STRef holds a MutVar#)
Left not transferable: GHC.IO.Handle.Types.Handle__, which holds a MutVar#
Left not transferable: GHC.Ptr.Ptr, which holds an address of one process
(15,1010,21,1014)
(15,1010,21,1014)
TXT
