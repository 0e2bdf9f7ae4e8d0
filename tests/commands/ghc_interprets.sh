# The installed ghc, running on Hecaton, has code interpreted in a process of its own: Template Haskell, GHCi and runghc
# say what they say on the stock runtime.
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

# A program on the GHC API does the same by a flag.
sed 's/ARGUMENT/`gopt_set` Opt_ExternalInterpreter/' Api.hs >External.hs
sed -i 's/ARGUMENT//' Api.hs
for name in Api External; do
    ghc -v0 -dynamic -package ghc -outputdir $name -o "./$name.bin" $name.hs
done
says done ./Api.bin "$(ghc --print-libdir)"
says done "$HECATON" run ./External.bin "$(ghc --print-libdir)"

# Without that it is refused, and the way out for just this program is named.
no='is not supported by Hecaton yet; '
while IFS='|' read -r program words; do
    status=0
    "$HECATON" run $program >out 2>err </dev/null || status=$?
    [ "$status" = 1 ] || fail "$program: exit $status"
    grep -q "^[^ ]*: the \(bytecode interpreter\|object linker\) $no$words" err || fail "$program said $(cat err)"
    [ "$(wc -l <err)" = 1 ] || fail "$program said more than one line: $(cat err)"
done <<PROGRAMS
runghc Fails.hs|ghc -fexternal-interpreter (runghc --ghc-arg=-fexternal-interpreter) 
ghc -v0 -c Fails.hs|ghc -fexternal-interpreter 
./Api.bin $(ghc --print-libdir)|a program on the GHC API .*Opt_ExternalInterpreter
PROGRAMS
