# Random programs of the model of the substrate, printed as Haskell, have types, and end on Hecaton as the model says:
# by themselves, and with their threads under each scheduler of the package. Arguments: a seed, and how many programs.
. "${BASH_SOURCE[0]%/*}/common.bash"
tests=$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)
[ -n "$(ghc-pkg list --global --simple-output QuickCheck)" ] || { echo "QuickCheck is not installed"; exit 77; }

sources=$tests/commands/substrate_model
"$HECATON" ghc -v0 -O0 -i"$tests/conformance/library" -outputdir objects -o print "$sources/PrintModels.hs"
./print "${1:-45}" "${2:-48}"
for main in RunModels RunUnderLibrary; do
    "$HECATON" ghc -v0 -O0 -threaded -rtsopts -i"$tests/conformance/schedulers:." -outputdir models.o -o $main \
        "$sources/$main.hs"
    rm models.o/Main.*
done

# ended NUMBER HECS INPUT OPTION… COMMAND… : runs a program. It ends with 1 if an exception reaches its main thread at
# the very end. There is no collection, so that threads which wait for ever get no exception.
ended() {
    local n=$1 hecs=$2 input=$3 got code=0
    got="$n $(timeout 60 "./$4" +RTS "-N$hecs" -A256m -I0 -s "${@:5}" <<<"$input" 2>err)" || code=$?
    [ $code -le 1 ] || fail "program $input: exit $code: $(cat err)"
    grep -qxF -e "$got" expected || fail "program $input on $hecs HECs: $got, but the model has $(grep "^$n " expected)"
    grep UPCALLS err >>upcalls || true
}
# A thread yields where the model has a tick. Those of programs for which it has them everywhere get short time slices.
slices='-V0.001 -C0.001'
while read -r n sort hecs; do
    for seed in 0 1 2; do
        case $sort in
        plain) ended "$n" 1 "$n $seed" RunModels -V0 && ended "$n" 2 "$n $seed" RunModels -V0 ;;
        ticking) ended "$n" "$hecs" "$n $seed" RunModels $slices ;;
        *) ended "$n" "$hecs" "$n $seed" RunModels -V0 ;;
        esac
    done
    [ $sort = plain ] || continue
    # A scheduler has only outcomes that the built-in one may have.
    for scheduler in {0..19}; do
        [ $(((n + scheduler) % 2)) = 0 ] || continue
        ended "$n" $((1 + scheduler / 10)) "$((n / 2 % 2)) $scheduler $n $((n + scheduler))" RunUnderLibrary $slices
    done
done <programs

echo "rule, how often taken by programs that were run, and by all:"
cat rules
# A program that takes one of these may fault, so it is not run.
faults='^\(SwitchRunning\|UpRaised\) '
! grep -v "$faults" rules | grep ' 0 ' || fail "not taken by programs that were run"
! grep ' 0$' rules || fail "not taken"
# The runtime has met the causes of upcalls, but for delays and descriptors, which the model does not have, and stale
# choices, which are rare.
for cause in MVar STM thunk call exception fork block tick end; do
    grep -q "[1-9][0-9]* $cause\b" upcalls || fail "no program has made an upcall because of: $cause"
done
