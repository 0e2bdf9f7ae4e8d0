# The installed ghc, running on Hecaton, makes of every library program the same object file as on the stock runtime,
# with and without -O.
. "${BASH_SOURCE[0]%/*}/common.bash"
programs=${BASH_SOURCE[0]%/*}/../libraries

compiled=0
for source in "$programs"/*.hs; do
    packages=$(sed -n 's/^-- needs: //p' "$source" | tr ',' ' ')
    for package in $packages; do
        ghc-pkg --simple-output list "$package" | grep -q . || continue 2
    done
    for level in -O0 -O1; do
        ghc -v0 $level -c -outputdir stock "$source"
        "$HECATON" run ghc -v0 $level -c -outputdir ours "$source"
        cmp stock/Main.o ours/Main.o || fail "$source, $level: the object files differ"
        rm -r stock ours
    done
    compiled=$((compiled + 1))
done
[ $compiled -gt 0 ] || { echo "none of the libraries is installed"; exit 77; }

# Errors in the program are ghc's own to report.
echo 'main = putStrLn 1' >Wrong.hs
ghc -c Wrong.hs >stock.out 2>stock.err && fail "ghc: exit 0"
"$HECATON" run ghc -c Wrong.hs >out 2>err && fail "ghc on Hecaton: exit 0"
diff stock.out out && diff stock.err err
