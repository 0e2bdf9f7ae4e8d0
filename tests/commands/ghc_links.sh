# `hecaton ghc` links every way with Hecaton, statically and dynamically, from any folder and by any name.
. "${BASH_SOURCE[0]%/*}/common.bash"
root=$(dirname "$HECATON")

hello here
cd here
for flags in '' -threaded -debug -eventlog '-threaded -debug' '-threaded -eventlog'; do
    rm -f Main Main.o Main.hi
    "$HECATON" ghc -v0 $flags Main.hs
    nm Main | grep -q __hecaton_build || fail "ghc $flags: not linked with Hecaton"
    says hello ./Main
    rm -f Main Main.o Main.hi
    "$HECATON" ghc -v0 -dynamic $flags Main.hs
    ldd Main | grep -q "libHSrts.* => ${HECATON_LIB_DIR:-$root/build/lib}/libHSrts" || fail "ghc -dynamic $flags: loads $(ldd Main | grep HSrts)"
    says hello ./Main
done
ln -s "$HECATON" link
says 9.0.2 ./link ghc --numeric-version
says 9.0.2 "$root/bin/ghc" --numeric-version
says 2 "$root/bin/ghc" -e '1 + 1'
says "$(ghc --info)" "$root/bin/ghc" --info

# A program linked with GHC's own runtime is linked again, though nothing else changed.
rm -f Main Main.o Main.hi
ghc -v0 Main.hs
"$HECATON" ghc -v0 Main.hs
nm Main | grep -q __hecaton_build || fail "not linked again"
