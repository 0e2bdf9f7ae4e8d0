# Whatever the installed headers declare and the stock library of a way defines, this library of that way defines too,
# static and shared, or docs/limitations.md lists it; and what is listed there as missing is.
. "${BASH_SOURCE[0]%/*}/common.bash"
root=$(dirname "$HECATON")
lib=${HECATON_LIB_DIR:-$root/build/lib}
ghc=$(ghc --print-libdir)
document=$root/docs/limitations.md
"$HECATON" build

export LC_ALL=C
names() { awk 'NF >= 2 && $1 !~ /:$/ { print $1 }' | sed 's/@.*//' | sort -u; }

# The names in the table under a heading of the document, as anchored regular expressions.
listed() {
    awk -v heading="### $1" '$0 == heading { on = 1; next } /^#/ { on = 0 } on && /^\| `/' "$document" | cut -d'|' -f2 |
        grep -o '`[^`]*`' | tr -d '`' | sed 's/\*/.*/g; s/.*/^&$/'
}

# declared FLAG… : which of the names on standard input the headers declare. A reference to each that occurs in them is
# compiled, and the compiler says which it does not know. Other complaints would hide some, so there must be none.
declared() {
    echo '#include "Rts.h"' >headers.c
    gcc -E -P -I"$ghc/include" "$@" headers.c | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >words
    sort -u | comm -12 - words >names
    sed 's/.*/const void *const refers_to_& = (const void *)\&&;/' names | cat headers.c - >names.c
    gcc -fsyntax-only -w -I"$ghc/include" "$@" names.c 2>said || true
    grep 'error:' said | grep -v "undeclared here" >other || true
    [ ! -s other ] || fail "the headers could not be asked: $(head -3 other)"
    sed -n "s/.*error: '\([A-Za-z0-9_]*\)' undeclared here.*/\1/p" said | sort -u >unknown
    comm -23 names unknown
}

listed "Not there" >absent
listed "There, with less effect" >lesser
[ -s absent ] && [ -s lesser ] || fail "$document has no tables"
: >used
for way in "" _thr _debug _thr_debug _l _thr_l; do
    flags=()
    case $way in *_thr*) flags+=(-DTHREADED_RTS) ;; esac
    case $way in *_debug*) flags+=(-DDEBUG) ;; esac
    nm --defined-only --extern-only --format=posix "$ghc/rts/libHSrts$way.a" 2>/dev/null | names | declared "${flags[@]}" >wanted
    [ "$(wc -l <wanted)" -gt 500 ] || fail "the headers declare only $(wc -l <wanted) names of libHSrts$way"
    nm --defined-only --extern-only --format=posix "$lib/libHSrts$way.a" 2>/dev/null | names >static
    nm --dynamic --defined-only --format=posix "$lib/libHSrts$way-ghc9.0.2.so" | names >shared
    for kind in static shared; do
        comm -23 wanted $kind | grep -v -f absent >missing || true
        [ ! -s missing ] || fail "libHSrts$way ($kind) lacks, and $document does not list: $(tr '\n' ' ' <missing)"
        comm -12 wanted $kind | grep -f absent >found || true
        [ ! -s found ] || fail "$document lists as missing what libHSrts$way ($kind) has: $(tr '\n' ' ' <found)"
    done
    cat wanted >>used
done
sort -u used >all
for table in absent lesser; do
    while read -r name; do
        grep -q "$name" all || fail "$document lists $name, which no header declares"
    done <$table
done
# What has less effect is there.
grep -f lesser all | comm -23 - static >missing || true
[ ! -s missing ] || fail "$document says of these that they are there: $(tr '\n' ' ' <missing)"
