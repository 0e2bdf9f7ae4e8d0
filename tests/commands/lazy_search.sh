# A backtracking search over trees that are built lazily copies less than half of what it copies on the stock runtime.
# (Where it did not age, thunks that had died old held all that had been visited, and it copied twice as much.)
. "${BASH_SOURCE[0]%/*}/common.bash"

cp "$(dirname "$HECATON")/bench/search_trees.hs" .

# copied PROGRAM : the bytes that it copies.
copied() {
    "./$1" 25 10 25 400 20 +RTS "-t$1.stats" --machine-readable >"$1.out" || fail "$1: exit $?"
    sed -n 's/.*("copied_bytes", "\([0-9]*\)").*/\1/p' "$1.stats"
}

ghc -v0 -O -rtsopts -outputdir stock.o search_trees.hs -o stock
"$HECATON" ghc -v0 -O -rtsopts -outputdir hecaton.o search_trees.hs -o hecaton
stock=$(copied stock)
hecaton=$(copied hecaton)
cmp stock.out hecaton.out || fail "they find different solutions"
[ "$hecaton" -gt 0 ] || fail "nothing copied: $hecaton"
[ $((20 * hecaton)) -le $((9 * stock)) ] || fail "$hecaton bytes copied, $stock on the stock runtime"
