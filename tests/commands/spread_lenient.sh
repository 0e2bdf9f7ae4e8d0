# Lenient evaluation over processing elements: a program without annotations, compiled with the plugin Hecaton.Lenient,
# divides its work, and answers as it does alone. What diverges, or would need all memory, is not waited for; effects
# happen when they would have happened.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Tree.hs <<'HS'
import Control.Exception
import Data.IORef
import Data.List (foldl')
import System.Environment
import System.IO.Unsafe

data Tree = Leaf Int | Node Tree Tree

work :: Int -> Int -> Int
work size n = foldl' (\a k -> (a * 31 + k) `mod` 1000003) n [1 .. size]
{-# NOINLINE work #-}

build :: Int -> Int -> Int -> Tree
build size 0 n = Leaf (work size n)
build size d n = Node (build size (d - 1) (2 * n)) (build size (d - 1) (2 * n + 1))

total :: Tree -> Int
total (Leaf n) = n
total (Node l r) = total l + total r

diverges :: Int -> Int
diverges n = if n < 0 then n else diverges (n + 1 - 2 * (n `mod` 2) + 1)
{-# NOINLINE diverges #-}

endless :: Int -> [Int]
endless n = n : endless (n + 1)
{-# NOINLINE endless #-}

counted :: IORef Int -> Int -> Int
counted counter n = unsafePerformIO (modifyIORef' counter (+ 1) >> pure n)
{-# NOINLINE counted #-}

failing :: Int -> Int
failing n = n `div` (n - n)
{-# NOINLINE failing #-}

main :: IO ()
main = do
  [depth, size, seed] <- map read <$> getArgs
  counter <- newIORef 0
  let never = diverges seed
      hungry = length (endless seed)
      unneeded = counted counter seed
      needed = counted counter (seed + 1)
      tree = build size depth seed
      sum' = total tree
  print (if sum' > 0 then sum' else never + hungry + unneeded)
  print needed
  readIORef counter >>= print
  met <- try (evaluate (failing seed)) :: IO (Either ArithException Int)
  print met
HS
"$HECATON" ghc -v0 -O -threaded -rtsopts -outputdir o_plain -o plain Tree.hs
"$HECATON" ghc -v0 -O -threaded -rtsopts -fplugin=Hecaton.Lenient -outputdir o_tree -o tree Tree.hs
run() {
    local n=$1
    shift
    timeout 120 "$HECATON" spread -n "$n" ./tree "$@" >out 2>err || fail "-n $n $*: exit $?: $(tail -5 err)"
    diff expected out || fail "-n $n $* answers otherwise"
}
./plain 7 200000 1 >expected
# What is lent depends on how busy the machine is.
lent=0
for n in 2 3; do
    run "$n" 7 200000 1 +RTS -s
    lent=$((lent + $(awk '$1 == "sum" { print $8; exit }' err)))
done
[ "$lent" -ge 2 ] || fail "lent: $(grep -A5 '^ *PE' err)"
grep -q LENIENT err || fail "lenient sparks are not counted: $(cat err)"
./plain 9 2000 1 >expected
run 2 9 2000 1 +RTS -N2 -A64k
run 3 9 2000 1 +RTS --lenient=0
export HECATON_CHECK=heap
run 2 9 2000 1 +RTS -A64k
run 4 9 2000 1 +RTS -N2 -A64k
