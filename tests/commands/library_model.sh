# Random programs of the model of the substrate, printed as Haskell, have types, and end on Hecaton as the model says.
. "${BASH_SOURCE[0]%/*}/common.bash"
tests=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
[ -n "$(ghc-pkg list --global --simple-output QuickCheck)" ] || { echo "QuickCheck is not installed"; exit 77; }

"$HECATON" ghc -v0 -O0 -i"$tests/conformance/library" -outputdir objects -o print \
    "$tests/commands/substrate_model/PrintModels.hs"
./print
"$HECATON" ghc -v0 -O0 -threaded -rtsopts -o models Models.hs
for n in $(seq 0 59); do
    got="$n $(timeout 60 ./models +RTS -N1 <<<"$n" 2>err)" || fail "program $n: exit $?: $(cat err)"
    grep -qxF -e "$got" expected || fail "program $n: $got, but the model has $(grep "^$n " expected)"
done
for rule in Switch SwitchSelf SwitchExn NotPassive EnqueueStale InvokeDequeueActOther InvokeEnqueueActOther TCExn; do
    grep -qx $rule rules || fail "no program that is run takes $rule"
done
