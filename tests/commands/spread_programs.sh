# The programs of `hecaton bench spread`, at small sizes: they print the same alone and over two and three processing
# elements, as paraffins does in C. The figures of the others are read by the command's unit tests.
. "${BASH_SOURCE[0]%/*}/common.bash"

bench=$(dirname "$HECATON")/bench

# check SOURCE ARGS… : the program prints the same over several processing elements.
check() {
    local source=$1 name n
    name=$(basename "$1" .hs)
    shift
    "$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package parallel -package array -package containers \
        "-i$(dirname "$bench/$source")" -outputdir "$name.o" -o "$name" "$bench/$source"
    "./$name" "$@" >"$name.alone" || fail "$name alone: exit $?"
    [ -s "$name.alone" ] || fail "$name prints nothing"
    for n in 2 3; do
        timeout 120 "$HECATON" spread -n "$n" "./$name" "$@" >out 2>err || fail "$name -n $n: exit $?: $(tail -5 err)"
        cmp "$name.alone" out || fail "$name -n $n"
    done
}

check spread/trees.hs 14 2 4
check spread/matrix.hs 60 2
check spread/matrix.hs 61 5
check spread/paraffins.hs 16
check spread/sum_euler.hs 1000 50
check spread/mandel.hs 50
check spread/ray.hs 60 7
check par_fib.hs 27 15
check par_queens.hs 8

gcc -O2 -o in_c "$bench/spread/paraffins.c"
./in_c 16 | cmp - paraffins.alone || fail "paraffins in C"

# Calls and reads, each of which has a figure.
"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package containers -package array "-i$bench/spread" \
    -outputdir latency.o -o latency "$bench/spread/latency.hs"
timeout 120 "$HECATON" spread -n 2 ./latency 100 5000 >out 2>err || fail "latency: exit $?: $(tail -5 err)"
[ "$(cut -f 2 out | grep -c '^[0-9.e-]*$')" = 14 ] || fail "latency: $(cat out)"
