# Building again is quick and silent; a GHC that is missing, of another version, or failing is named, and the libraries
# stay.
. "${BASH_SOURCE[0]%/*}/common.bash"
root=$(dirname "$HECATON")
lib=$root/build/lib

says '' "$HECATON" build
before=$(ls -l --time-style=full-iso "$lib")
says '' "$HECATON" build
for way in '' _debug _l _thr _thr_debug _thr_l; do
    [ -f "$lib/libHSrts$way.a" ] || fail "no libHSrts$way.a"
    readelf -d "$lib/libHSrts$way-ghc9.0.2.so" | grep -q "SONAME.*\[libHSrts$way-ghc9.0.2.so\]" || fail "no libHSrts$way shared"
done
# Nothing that Rust names is visible to programs.
if nm --defined-only --extern-only "$lib/libHSrts_thr.a" | grep -E ' (_ZN|_R|rust_|__rust)'; then
    fail "names of Rust are visible"
fi

refused 1 'HECATON_GHC names' env HECATON_GHC=/no/such/ghc "$HECATON" build
refused 1 'GHC 9.0.2 is missing.*demo' env PATH="$(dirname "$(command -v cargo)"):$(dirname "$(command -v bash)")/nothing" \
    "$root/target/release/hecaton" build
printf '#!/bin/sh\necho 9.4.7\n' >other && chmod +x other
refused 1 '9.4.7.*9.0.2' env HECATON_GHC=./other "$HECATON" build
cat >full <<'SH'
#!/bin/sh
case $1 in
    --numeric-version | --print-libdir) exec ghc "$1" ;;
esac
echo 'write: No space left on device' >&2
exit 1
SH
chmod +x full
refused 1 'disk is full' env HECATON_GHC="$PWD/full" "$HECATON" build
[ "$before" = "$(ls -l --time-style=full-iso "$lib")" ] || fail "the libraries changed"
says '' "$HECATON" build
