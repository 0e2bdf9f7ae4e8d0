# Every symbol of the runtime that GHC's libraries refer to is there, for static and for shared libraries.
. "${BASH_SOURCE[0]%/*}/common.bash"
lib=${HECATON_LIB_DIR:-$(dirname "$HECATON")/build/lib}
ghc=$(ghc --print-libdir)
"$HECATON" build

names() { awk 'NF >= 2 && $1 !~ /:$/ { print $1 }' | sed 's/@.*//' | sort -u; }

nm --defined-only --extern-only --format=posix "$ghc/rts/libHSrts_thr.a" 2>/dev/null | names >stock
# Not the runtime itself, and not the libraries for profiling, which need a runtime of their own.
libraries() { find "$ghc" -name "libHS*$1" ! -path '*/rts/*' ! -name '*_p.a' ! -name '*_debug*'; }
libraries .a | xargs nm --undefined-only --format=posix 2>/dev/null | names >wanted-static
libraries .so | xargs nm --dynamic --undefined-only --format=posix 2>/dev/null | names >wanted-shared
nm --defined-only --extern-only --format=posix "$lib/libHSrts_thr.a" 2>/dev/null | names >here-static
nm --dynamic --defined-only --format=posix "$lib/libHSrts_thr-ghc9.0.2.so" | names >here-shared
for kind in static shared; do
    comm -12 stock wanted-$kind | comm -23 - here-$kind >missing-$kind
    [ ! -s missing-$kind ] || fail "$(wc -l <missing-$kind) symbols are missing for $kind libraries: $(tr '\n' ' ' <missing-$kind)"
done
