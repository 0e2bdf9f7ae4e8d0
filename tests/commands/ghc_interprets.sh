# The installed ghc, running on Hecaton, has code interpreted in a process of its own: Template Haskell, GHCi and runghc say what they say on the stock runtime.
. "${BASH_SOURCE[0]%/*}/common.bash"
cp "${BASH_SOURCE[0]%/*}"/ghc_interprets/*.hs .

# both NAME COMMAND… : the same output, errors and exit code by `ghc` and friends on either runtime.
both() {
    local name=$1 stock=0 ours=0
    shift
    "$@" <input >stock.out 2>stock.err || stock=$?
    "$HECATON" run "$@" <input >out 2>err || ours=$?
    [ "$ours" = "$stock" ] || fail "$name: exit $ours instead of $stock: $(cat err)"
    diff stock.out out && diff stock.err err || fail "$name: other output"
    [ -s stock.out ] || [ -s stock.err ] || fail "$name: no output"
}
: >input

for runtime in stock ours; do
    on=()
    [ $runtime = stock ] || on=("$HECATON" run)
    "${on[@]}" ghc -v0 --make -j2 -fexternal-interpreter -outputdir "$runtime" Splices.hs -o "splices.$runtime"
    "./splices.$runtime" >"$runtime.out"
done
diff stock.out ours.out
[ "$(wc -l <ours.out)" = 5 ] || fail "Splices.hs: $(cat ours.out)"

both "a splice that fails" ghc -v0 -c -fexternal-interpreter Fails.hs
both runghc runghc --ghc-arg=-fexternal-interpreter Quote.hs

cat >input <<'END'
:load Splices
main
:type constructors
sum [1 .. 10 ^ 5]
head ([] :: [Int])
undefinedName
:browse Quote
END
both ghci ghc --interactive -v0 -ignore-dot-ghci -fexternal-interpreter

# Without that it is refused, and the way out is named.
for program in runghc "ghc -v0 -c"; do
    status=0
    "$HECATON" run $program Fails.hs >out 2>err || status=$?
    [ "$status" = 1 ] || fail "$program: exit $status"
    grep -q '^ghc: the \(bytecode interpreter\|object linker\) is not supported by Hecaton yet; ghc -fexternal-interpreter ' err || fail "$program said $(cat err)"
    [ "$(wc -l <err)" = 1 ] || fail "$program said more than one line: $(cat err)"
done
