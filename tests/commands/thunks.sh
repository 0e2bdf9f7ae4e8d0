# Code says whether a thunk is updatable: all thunks of the compiler's library and of those it needs are classified, and
# each place that pushes an update frame is that of a thunk found to be updatable, or the runtime's own. The library
# parallel is compiled with -feager-blackholing, as is the program.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
module Main (main) where
import Control.Exception
import Control.Parallel.Strategies
import qualified Data.IntMap as I
import qualified Data.Text as T
import GHC

foreign import ccall safe "hec_print_thunk_kinds" printKinds :: IO ()

main :: IO ()
main = do
  -- Not run, but linked.
  _ <- evaluate (runGhc Nothing (getSessionDynFlags >>= setSessionDynFlags >> load LoadAllTargets))
  print (T.length (T.pack (show (I.fromList [(1 :: Int, 'x')]))))
  print (sum (map length ([[n .. 10 * n] | n <- [1 :: Int .. 5]] `using` parList rdeepseq)))
  printKinds
HS

"$HECATON" ghc -v0 -threaded -rtsopts -package ghc -package containers -package text -package parallel \
    -feager-blackholing -outputdir o -o main Main.hs
./main >out || fail "exit $?"
awk '/^updatable/ { u = $2 } /^single-entry/ { s = $2 } END { exit !(u > 50000 && s > 1000) }' out ||
    fail "too few: $(tail -3 out)"

# The runtime's own code is written by hand.
nm -n --defined-only main | awk '{ print $1, $3 }' >symbols
grep -E '^(unknown|pushes) ' out | awk '{ printf "%016s %s\n", $2, $1 }' | tr ' ' 0 | sed 's/0\(unknown\|pushes\)$/ \1/' >places
sort -s -k1,1 symbols places | awk '$2 == "unknown" || $2 == "pushes" { print $2, last; next } { last = $2 }' |
    grep -vE '^unknown (stg_raise|hec_modify)_info$|^pushes (stg|hec)_[A-Za-z0-9_]*_info$' >unexpected || true
[ ! -s unexpected ] || fail "code of other forms: $(wc -l <unexpected), $(head -5 unexpected)"
