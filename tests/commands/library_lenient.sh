# Lenient evaluation: a program compiled with the plugin Hecaton.Lenient answers as it does without, on several HECs.
# Some of what it makes is evaluated by others.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Answers.hs <<'END'
{-# LANGUAGE BangPatterns, GADTs #-}
import Control.Exception
import Data.IORef
import Data.List (foldl')
import System.IO.Unsafe

data Strict = Strict !Int Int
data Expr a where
  Number :: Int -> Expr Int
  Equal :: Expr Int -> Expr Int -> Expr Bool
  If :: Expr Bool -> Expr a -> Expr a -> Expr a
data Tree = Leaf | Node Tree Integer Tree

class Shape s where
  area :: s -> Integer
  both :: s -> (Integer, Integer)
  both s = (area s, area s * slow 20)
newtype Square = Square Integer
instance Shape Square where area (Square n) = n * slow 10

slow :: Integer -> Integer
slow n = foldl' (+) 0 [1 .. n]
{-# NOINLINE slow #-}

eval :: Expr a -> a
eval (Number n) = n
eval (Equal a b) = eval a == eval b
eval (If c a b) = if eval c then eval a else eval b

mapp :: (a -> b) -> [a] -> [b]
mapp f (x : xs) = f x : mapp f xs
mapp _ [] = []
{-# NOINLINE mapp #-}

primes :: [Integer]
primes = sieve [2 ..] where sieve ~(p : xs) = p : sieve [x | x <- xs, x `mod` p /= 0]

-- The least leaf in all leaves, in one pass over the tree.
repmin :: Tree -> Tree
repmin tree = new
  where
    (new, least) = go tree
    go Leaf = (Leaf, 1000000)
    go (Node l n r) = (Node l' least r', min n (min a b))
      where
        (l', a) = go l
        (r', b) = go r

build :: Int -> Integer -> Tree
build 0 _ = Leaf
build d n = Node (build (d - 1) (2 * n)) n (build (d - 1) (2 * n + 1))

total :: Tree -> Integer
total Leaf = 0
total (Node l n r) = total l + n + total r

evens, odds :: [Integer]
evens = 0 : mapp (+ 1) odds
odds = mapp (+ 1) evens

counter :: IORef Int
counter = unsafePerformIO (newIORef 0)
{-# NOINLINE counter #-}

unused :: Int -> Int -> Int
unused n m = if m > 0 then n else fst pair
  where
    pair = (length [n ..] + length (mapp id ones), effect n)
    ones = 1 : ones :: [Int]
    effect k = unsafePerformIO (modifyIORef counter (+ k) >> return k)
{-# NOINLINE unused #-}

main :: IO ()
main = do
  print (take 60 primes)
  print (total (repmin (build 12 1)))
  print (take 10 evens, takeWhile (< 30) (let fibs = 0 : 1 : zipWith (+) fibs (tail fibs) in fibs))
  print (both (Square 7))
  print (eval (If (Equal (Number 2) (Number (1 + 1))) (Number 10) (Number (error "not this"))))
  case Strict 3 (error "lazy field") of Strict n _ -> print n
  r <- try (evaluate (let xs = mapp (10 `div`) [1, 0] :: [Int] in sum xs)) :: IO (Either ArithException Int)
  print r
  r' <- try (evaluate (Strict (head (mapp id [])) 1)) :: IO (Either ErrorCall Strict)
  putStrLn (either (const "raised") (const "not") r')
  print (foldl' (+) 0 [unused k 1 | k <- [1 .. 2000]])
  readIORef counter >>= print
  print (length (mapp slow [1 .. 100000]))
  let loop = let x = length (mapp (+ x) [1]) + x in x :: Int
  r'' <- try (evaluate loop) :: IO (Either NonTermination Int)
  print (either (const "loops") show r'')
  interact (take 0)
  putStrLn "end"
END
"$HECATON" ghc -v0 -O -threaded -rtsopts -outputdir plain -o plain_answers Answers.hs
echo input | ./plain_answers >expected
for level in 0 1 2; do
    "$HECATON" ghc -v0 -O$level -threaded -rtsopts -dcore-lint -fplugin=Hecaton.Lenient -outputdir "o$level" \
        -o "answers$level" Answers.hs
    for flags in -N1 -N2 '-N4 -A64k' '-N2 --lenient=0'; do
        echo input | timeout 60 "./answers$level" +RTS $flags >got || fail "-O$level $flags ends with $?"
        diff expected got || fail "-O$level $flags answers otherwise"
    done
done

# Sparks are converted, and counted.
./answers1 +RTS -N2 -s <<<input 2>stats >got
grep -Eq 'LENIENT: [0-9]+ \([1-9][0-9]* converted' stats || fail "nothing is converted: $(grep LENIENT stats)"

# A module may decline.
"$HECATON" ghc -v0 -O -threaded -rtsopts -fplugin=Hecaton.Lenient -fplugin-opt=Hecaton.Lenient:off -outputdir off \
    -o off_answers Answers.hs
./off_answers +RTS -N2 -s <<<input 2>stats >got
! grep -q LENIENT stats || fail "the option off has no effect"
