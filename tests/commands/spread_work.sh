# Work that spreads by itself: programs with sparks, otherwise unchanged, give the answers that they give alone; with
# small nurseries, several HECs for each processing element, and the heap checker. All lend work.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"

make_work
run() {
    local n=$1
    shift
    gives_work timeout 300 "$HECATON" spread -n "$n" ./work 15 27 "$@"
}
run 1
# How much is lent depends on how busy the machine is.
lent=0
for n in 2 3 4; do
    run "$n" +RTS -s
    lent=$((lent + $(awk '$1 == "sum" { print $8; exit }' err)))
done
[ "$lent" -ge 3 ] || fail "lent: $(tail -8 err)"
run 2 +RTS -N2
run 3 +RTS -N2 -A64k
run 2 +RTS -A16k -G3
export HECATON_CHECK=heap
run 2
run 2 +RTS -N2
unset HECATON_CHECK
# What was fetched most, with the names of its constructors.
cat >Why.hs <<'HS'
import Hecaton.Cluster
import System.Environment
main :: IO ()
main = do
  n <- read . head <$> getArgs
  values <- remoteOn (PE 1) (pure [Just (show k) | k <- [1 .. n :: Int]]) >>= await
  print (length (concat [c | Just c <- values]))
HS
"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -outputdir w -o why Why.hs
[ "$("$HECATON" spread -n 2 ./why 5000 +RTS --why-fetch 2>err)" = 18893 ] || fail "why: $(cat err)"
grep -q 'fetched, by what came$' err || fail "no report: $(cat err)"
grep -q 'ghczmprim_GHCziTypes_ZC_con_info' err || fail "no list cells: $(cat err)"
