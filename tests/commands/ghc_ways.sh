# What Hecaton cannot link is linked with GHC's own runtime, and said; what was linked with Hecaton does not run on
# another runtime unnoticed.
. "${BASH_SOURCE[0]%/*}/common.bash"
root=$(dirname "$HECATON")
lib=${HECATON_LIB_DIR:-$root/build/lib}
libdir=$(ghc --print-libdir)

# links TEXT FLAGS… : the link must succeed and say just one line, `hecaton: …TEXT…` (or nothing at all if there is no
# TEXT).
links() {
    local text=$1
    shift
    rm -rf objects main
    "$HECATON" ghc -v0 -outputdir objects -o main "$@" >out 2>err || fail "ghc $*: exit $?: $(cat err)"
    [ ! -s out ] || fail "ghc $*: printed $(cat out)"
    if [ -z "$text" ]; then
        [ ! -s err ] || fail "ghc $*: said $(cat err)"
    else
        [ "$(wc -l <err)" = 1 ] || fail "ghc $*: said other than one line: $(cat err)"
        grep -q "^hecaton: .*$text" err || fail "ghc $*: said $(cat err), not $text"
    fi
}

hello .
is_ours() { ./main +RTS --info | grep -q Hecaton; }

# Counters are there; what there is not is a report of them.
for flags in -ticky '-debug -ticky' '-threaded -ticky -ticky-allocd -ticky-LNE -ticky-dyn-thunk' '-dynamic -ticky'; do
    links 'no report.*-r' $flags -rtsopts Main.hs
    says hello ./main
    is_ours || fail "ghc $flags: not on Hecaton"
    got=0
    ./main +RTS -r >out 2>err || got=$?
    [ $got = 1 ] && grep -q '^main: -r: ticky-ticky profiling is not supported by Hecaton' err || fail "ghc $flags: +RTS -r: exit $got: $(cat err)"
done

# Profiling: needs no more than GHC's runtime for it.
cat >hello.c <<'C'
#include "HsFFI.h"
#include <stdio.h>
int main(int argc, char *argv[])
{
    hs_init(&argc, &argv);
    puts("hello");
    hs_exit();
    return 0;
}
C
for way in '' _thr _debug; do
    flags="-prof $(sed 's/_thr/-threaded/; s/_debug/-debug/' <<<"$way")"
    if [ -f "$libdir/rts/libHSrts${way}_p.a" ]; then
        links "profiling.*GHC's own runtime" $flags -no-hs-main hello.c
        says hello ./main
        ! nm main | grep -q __hecaton_build || fail "ghc $flags: marked as Hecaton's"
        links "profiling.*GHC's own runtime" $flags -rtsopts Main.hs
        says hello ./main
        ! is_ours || fail "ghc $flags: on Hecaton"
        # Once more nothing is linked, and nothing said.
        "$HECATON" ghc -v0 -outputdir objects -o main $flags -rtsopts Main.hs 2>err
        [ ! -s err ] || fail "ghc $flags, again: said $(cat err)"
    else
        "$HECATON" ghc -v0 $flags -no-hs-main -o main hello.c 2>err && fail "ghc $flags linked without libraries for it"
        [ "$(grep -c "^hecaton: profiling.*GHC's own runtime" err)" = 1 ] || fail "ghc $flags: said $(cat err)"
    fi
done

# An archive with the runtime in it.
cat >Lib.hs <<'HS'
module Lib where
foreign export ccall answer :: Int -> IO Int
answer :: Int -> IO Int
answer x = pure (x + 1)
HS
links "-staticlib.*GHC's own runtime" -staticlib Lib.hs
"$HECATON" ghc -v0 -outputdir objects -staticlib -c Lib.hs 2>err
[ ! -s err ] || fail "-staticlib -c: said $(cat err)"
links '' -dynamic-too Main.hs
says hello ./main

# A -dynamic program whose libraries have gone does not start; nor does one that is led to others.
gone() {
    local got=0
    "$@" >out 2>err || got=$?
    [ $got = 1 ] || fail "$*: exit $got: $(cat out err)"
    [ ! -s out ] || fail "$*: ran all the same"
    [ "$(wc -l <err)" = 1 ] && grep -q "linked with Hecaton, but the runtime that was loaded is $libdir/rts/libHSrts" err || fail "$*: said $(cat err)"
}
for flags in '' -threaded '-debug -ticky' '-pgml gcc' '-pgmlgcc'; do
    mkdir -p there
    cp -r "$lib"/. there
    HECATON_LIB_DIR=$PWD/there "$HECATON" ghc -v0 -dynamic $flags -outputdir objects-dynamic -o main -fforce-recomp Main.hs 2>/dev/null
    says hello ./main
    ldd main | grep -q "$PWD/there/libHSrts" || fail "ghc -dynamic $flags: loads $(ldd main)"
    gone env LD_LIBRARY_PATH="$libdir/rts" ./main
    rm -r there
    gone ./main
    says hello env LD_LIBRARY_PATH="$lib" ./main
    says hello "$HECATON" run ./main
done

# A library says it, and leaves the program that has loaded it alone.
cat >user.c <<'C'
#include "HsFFI.h"
#include <stdio.h>
extern HsInt answer(HsInt);
int main(int argc, char *argv[])
{
    hs_init(&argc, &argv);
    printf("%ld\n", (long)answer(41));
    hs_exit();
    return 0;
}
C
"$HECATON" ghc -v0 -shared -dynamic -fPIC -flink-rts -outputdir library -o libanswer.so Lib.hs
gcc -I"$libdir/include" user.c -o user ./libanswer.so "$lib/libHSrts_thr-ghc9.0.2.so" -Wl,-rpath,"$PWD" -Wl,--allow-shlib-undefined
LD_LIBRARY_PATH=$lib ./user >out 2>err || fail "user: exit $?: $(cat err)"
[ "$(cat out)" = 42 ] && [ ! -s err ] || fail "user: $(cat out err)"
LD_LIBRARY_PATH=$libdir/rts ./user >out 2>err || fail "user on GHC's own runtime: exit $?: $(cat err)"
[ "$(cat out)" = 42 ] && [ "$(grep -c 'libanswer.so: linked with Hecaton, but' err)" = 1 ] || fail "user on GHC's own runtime: $(cat out err)"
