# Every canned pattern of arguments is held over collections: in partial applications of functions of each type that
# FunTypes.h names, in the frames of ApplyPatterns.cmm, in standard thunks, and in what a function saves whose heap
# check fails. The program is made from those lists, so that none is left out; both runtimes must find all arguments as
# they were.
. "${BASH_SOURCE[0]%/*}/common.bash"
root=$(dirname "$HECATON")
types=$(sed -n 's/^#define ARG_\([NPFD]*\) .*/\1/p' "$(ghc --print-libdir)/include/rts/storage/FunTypes.h" | grep -v '^NONE$')
frames=$(sed -n 's/^\(INFO_TABLE_RET\|ONE_WORD\|ONE_FLOATING\)(stg_ap_\([a-z]*\),.*/\2/p' "$root/cmm/ApplyPatterns.cmm" | sort -u)
thunks=$(sed -n 's/^INFO_TABLE(stg_ap_\([0-9]*\)_upd,.*/\1/p' "$root/cmm/StdThunks.cmm")
selectors=$(sed -n 's/^SELECTOR(\([0-9]*\))$/\1/p' "$root/cmm/StdThunks.cmm")
[ "$(echo $types | wc -w)" = 21 ] || fail "argument types: $types"
[ "$(echo $frames | tr ' ' '\n' | grep -c .)" -ge 14 ] || fail "patterns: $frames"

awk -v types="$(echo $types)" -v frames="$(echo $frames)" -v thunks="$(echo $thunks)" -v selectors="$(echo $selectors)" '
# The i-th argument of a pattern: its type, how it is made, and what it is as an item.
function kind(p, i) { return toupper(substr(p, i, 1)) }
function type(k) { return k == "P" ? "Box" : k == "D" ? "Double#" : k == "F" ? "Float#" : "Int#" }
function maker(k, i) {
    return k == "P" ? "b" i "@(Box m" i ") <- new" : k == "D" ? "D# b" i " <- double" : k == "F" ? "F# b" i " <- float" : "I# b" i " <- address"
}
function item(k, a) { return k == "P" ? "P " a : k == "D" ? "D (D# " a ")" : k == "F" ? "F (F# " a ")" : "N (I# " a ")" }
function wanted(k, i) { return k == "P" ? "P (Box m" i ")" : item(k, "b" i) }
function join(p, from, to, what, sep,    i, s, w) {
    s = ""
    for (i = from; i <= to; i++) {
        w = what == "type" ? type(kind(p, i)) " -> " : what == "a" ? " a" i : what == "b" ? " b" i \
            : what == "item" ? item(kind(p, i), "a" i) : what == "wanted" ? wanted(kind(p, i), i) : maker(kind(p, i), i)
        s = s (i > from ? sep : "") w
    }
    return s
}
function make(p, n,    i) { for (i = 1; i <= n; i++) print "  " maker(kind(p, i), i) }
function define(name, sig, body) { print name " :: " sig; print name body; print "{-# NOINLINE " name " #-}\n" }
function add(name) { cases = cases (cases == "" ? "" : ", ") name }
function begin_case(name) { add(name); print name " :: IO (IO ())"; print name " = do" }
BEGIN {
    n_types = split(types, T); n_frames = split(frames, S); split(thunks, A); n_sel = split(selectors, E)
    for (t = 1; t <= n_types; t++) {
        p = T[t]; n = length(p)
        all = "[" join(p, 1, n, "item", ", ") "]"; right = "[" join(p, 1, n, "wanted", ", ") "]"
        define("fun" p, join(p, 1, n, "type", "") "R", join(p, 1, n, "a", "") " s = (# s, " all " #)")
        # Partial applications to one argument after the other, and the call that completes them.
        for (k = 1; k <= n; k++) {
            define("hold" p k, "(" join(p, 1, n, "type", "") "R) -> " join(p, 1, k, "type", "") "(" join(p, k + 1, n, "type", "") "R)", \
                " f" join(p, 1, k, "a", "") " = f" join(p, 1, k, "a", ""))
            begin_case("pap" p k)
            make(p, n)
            print "  let rest = hold" p k " fun" p join(p, 1, k, "b", "")
            print "  rest `seq` return (IO (rest" join(p, k + 1, n, "b", "") ") >>= expect \"PAP of ARG_" p " with " k "\" " right ")\n"
        }
        # Called so often that a heap check at its entry fails now and then.
        begin_case("save" p)
        make(p, n)
        print "  return (forM_ [1 .. 2000 :: Int] $ \\_ -> IO (fun" p join(p, 1, n, "b", "") ") >>= expect \"ARG_" p " saved\" " right ")\n"
    }
    for (t = 1; t <= n_frames; t++) {
        p = S[t]; void = p ~ /v$/; n = length(p) - void
        if (p == "l") continue
        args = join(p, 1, n, "a", ""); sig = join(p, 1, n, "type", "") (void ? "R" : "[Item]")
        all = "[" join(p, 1, n, "item", ", ") "]"; right = "[" join(p, 1, n, "wanted", ", ") "]"
        call = void ? "IO (apply_" p " f" join(p, 1, n, "b", "") ")" : "(return $! apply_" p " f" join(p, 1, n, "b", "") ")"
        define("apply_" p, "(" sig ") -> " sig, " f" args (void ? " s = f" args " s" : " = f" args))
        # The function is still to be evaluated (0), or takes fewer arguments and evaluates what takes the others.
        for (k = 0; k < n + void; k++) {
            inner = "\\" join(p, k + 1, n, "a", "") (void ? " s -> (# s, " all " #)" : " -> " all)
            define("f" k "_" p, sig, (k > 0 ? join(p, 1, k, "a", "") " = slow (" inner ")" : " = " inner))
            begin_case("frame_" p k)
            make(p, n)
            print "  return (let f = " (k > 0 ? "f" k "_" p : "slow f0_" p) " in " call " >>= expect \"stg_ap_" p ", " k "\" " right ")\n"
        }
    }
    for (t = 1; t in A; t++) {
        n = A[t] - 1; p = substr("PPPPPPPPPP", 1, n)
        define("lazy" A[t], "(" join(p, 1, n, "type", "") "[Item]) -> " join(p, 1, n, "type", "") "Lazy", \
            " f" join(p, 1, n, "a", "") " = let x = f" join(p, 1, n, "a", "") " in Lazy x")
        begin_case("thunk" A[t])
        make(p, n)
        lambda = n > 0 ? "\\" join(p, 1, n, "a", "") " -> " : ""
        print "  let l = lazy" A[t] " (slow (" lambda "[" join(p, 1, n, "item", ", ") "]))" join(p, 1, n, "b", "")
        print "  l `seq` return (case l of Lazy x -> expect \"stg_ap_" A[t] "_upd\" [" join(p, 1, n, "wanted", ", ") "] x)\n"
    }
    fields = ""; vars = ""
    for (i = 1; i <= n_sel; i++) { fields = fields " Box"; p = p "P" }
    p = substr("PPPPPPPPPPPPPPPPPPPPPPPP", 1, n_sel)
    print "data Wide = Wide" fields "\n"
    for (i = 1; i <= n_sel; i++) {
        define("sel" i, "Wide -> One", " w = let Wide" join(p, 1, n_sel, "a", "") " = w in One a" i)
        for (early = 0; early < 2; early++) {
            begin_case("select" i "_" early)
            make(p, n_sel)
            print "  let w = slow (Wide" join(p, 1, n_sel, "b", "") ")"
            print "  let o = sel" i " w"
            print "  " (early ? "w `seq` " : "") "o `seq` return (case o of One x -> expect \"stg_sel_" E[i] "\" [P (Box m" i ")] [P x])\n"
        }
    }
    print "cases :: [IO (IO ())]\ncases = [" cases "]"
}' >generated

{
    cat <<'HASKELL'
{-# LANGUAGE MagicHash, UnboxedTuples #-}
module Main (main) where
import Control.Monad
import Data.IORef
import Data.Word
import GHC.Exts hiding (Item)
import GHC.Float (castWord64ToDouble)
import GHC.IO (IO (..), unsafePerformIO)
import System.Mem

data Box = Box Int#
data Item = P Box | N Int | D Double | F Float
data Lazy = Lazy [Item]
data One = One Box
type R = State# RealWorld -> (# State# RealWorld, [Item] #)

text :: Item -> String
text (P (Box n)) = "P " ++ show (I# n)
text (N n) = "N " ++ show n
text (D d) = "D " ++ show d
text (F f) = "F " ++ show f

failures :: IORef Int
failures = unsafePerformIO (newIORef 0)
{-# NOINLINE failures #-}

expect :: String -> [Item] -> [Item] -> IO ()
expect name right got
  | map text right == map text got = return ()
  | otherwise = do
      modifyIORef failures (+ 1)
      putStrLn (name ++ ": " ++ show (map text got) ++ " instead of " ++ show (map text right))

numbers :: IORef Int
numbers = unsafePerformIO (newIORef 1000)
{-# NOINLINE numbers #-}

new :: IO Box
new = do
  modifyIORef' numbers (+ 1)
  I# n <- readIORef numbers
  return $! Box n
{-# NOINLINE new #-}

-- Numbers that are addresses of young objects: what takes them for pointers changes them.
address :: IO Int
address = new >>= \b -> b `seq` IO (\s -> case anyToAddr# b s of (# s', a #) -> (# s', I# (addr2Int# a) #))

double :: IO Double
double = castWord64ToDouble . fromIntegral <$> address

float :: IO Float
float = (\n -> fromIntegral n / 4) <$> readIORef numbers

-- Everything moves, and what it left is overwritten.
churn :: IO ()
churn = forM_ [performMinorGC, performMajorGC, performMinorGC] $ \collect -> do
  collect
  n <- readIORef numbers
  when (sum (map (length . show) [n .. n + 500]) < 0) (print n)

slow :: a -> a
slow x = unsafePerformIO (churn >> return x)
{-# NOINLINE slow #-}

main :: IO ()
main = do
  checks <- sequence cases
  churn
  sequence_ checks
  -- In old objects, and applied again.
  churn
  sequence_ checks
  n <- readIORef failures
  putStrLn (show (length checks) ++ " cases, " ++ show n ++ " wrong")

HASKELL
    cat generated
} >Main.hs
ghc -v0 -rtsopts -outputdir objects -o stock Main.hs
"$HECATON" ghc -v0 -rtsopts -outputdir objects -o ours Main.hs
count=$(grep -o 'IO (IO ())' generated | wc -l)
right="$((count - 1)) cases, 0 wrong"
says "$right" ./stock +RTS -A16k
says "$right" ./ours +RTS -A16k
says "$right" env HECATON_CHECK=gc-threads=4 ./ours +RTS -A16k
