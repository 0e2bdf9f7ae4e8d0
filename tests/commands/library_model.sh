# Random programs of the model of the substrate, printed as Haskell, have types, and end on Hecaton as the model says.
. "${BASH_SOURCE[0]%/*}/common.bash"
tests=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
[ -n "$(ghc-pkg list --global --simple-output QuickCheck)" ] || { echo "QuickCheck is not installed"; exit 77; }

"$HECATON" ghc -v0 -O0 -i"$tests/conformance/library" -outputdir objects -o print \
    "$tests/commands/substrate_model/PrintModels.hs"
./print
"$HECATON" ghc -v0 -O0 -threaded -rtsopts -outputdir models.o -o models Models.hs
"$HECATON" ghc -v0 -O0 -threaded -i"$tests/conformance/schedulers" -outputdir library.o -o library \
    "$tests/commands/substrate_model/RunUnderLibrary.hs"
# ended NUMBER INPUT COMMAND… : runs a program. It ends with 1 if an exception reaches its main thread at the very end.
ended() {
    local got code=0
    got="$1 $(timeout 60 "${@:3}" <<<"$2" 2>err)" || code=$?
    [ $code -le 1 ] || fail "program $2: exit $code: $(cat err)"
    grep -qxF -e "$got" expected || fail "program $2: $got, but the model has $(grep "^$1 " expected)"
}
# ran HECS NUMBER
ran() {
    ended "$2" "$2" ./models +RTS -N"$1"
}
for n in $(seq 0 99); do
    ran 1 "$n"
done
for n in $(seq 60 99); do
    ran 2 "$n"
done
# A scheduler has only outcomes that the built-in one may have.
for n in $(seq 60 99); do
    for scheduler in $((n % 8)) $(((n + 3) % 8)); do
        ended "$n" "$scheduler $n" ./library
    done
done
for rule in Switch SwitchSelf SwitchExn NotPassive EnqueueStale InvokeDequeueActOther InvokeEnqueueActOther TCExn; do
    grep -qx $rule rules || fail "no program that is run takes $rule"
done
