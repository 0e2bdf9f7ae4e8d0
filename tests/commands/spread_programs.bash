# Two programs over several processing elements, and what they print: `values` sends data about, `work` has sparks.
spread_programs=$(readlink -f "${BASH_SOURCE[0]%/*}/spread_programs")

make_values() {
    "$HECATON" ghc -v0 -O -XExistentialQuantification -threaded -rtsopts -package hecaton -package containers \
        -package array -package bytestring -package text -outputdir ovalues -o values "$spread_programs/Values.hs"
    export HECATON_SEED=1
    values_sum=$(ghc -v0 -e 'print (sum [product [1 .. toInteger k] | k <- [1 .. 60 :: Int]] `mod` 1000007)')
}
# values_expected SUM N : what it prints of each PE when there are N.
values_expected() {
    printf '%s\n' 'Left divide by zero' 4 boom boom 'Left arithmetic overflow'
    for _ in 1 2 3; do printf '%s\n' 'Left thread killed' 'thread killed'; done
    printf '%s\n' 'Left user error (thread killed)' 'Left thread killed' 'thread killed' "'x'" True 500500 "$1"
    printf 'user error (Hecaton.Cluster.%s of %s)\n' "on: PE $2" "$2" 'remoteOn: PE -1' "$2"
    echo 42925
    [ "$2" = 1 ] || printf '%s\n' 'not transferable' 'not transferable' caught 'not transferable' 7 '(1,"two")' \
        'not transferable' 'not transferable' 'not transferable'
}

# gives_values N COMMAND… : the command runs `values` over N PEs.
gives_values() {
    local n=$1
    shift
    "$@" >out 2>err || fail "$*: exit $?: $(tail -5 err)"
    { for ((pe = 1; pe < n || pe == 1; pe++)); do values_expected "$values_sum" "$n"; done; } | diff - out || fail "$*"
}

make_work() {
    "$HECATON" ghc -v0 -O -threaded -rtsopts -package parallel -package containers -package array -outputdir owork \
        -o work "$spread_programs/Work.hs"
    ./work 15 27 >expected
}
# gives_work COMMAND… : the command runs `work 15 27`.
gives_work() {
    "$@" >out 2>err || fail "$*: exit $?: $(tail -5 err)"
    diff expected out || fail "$*"
}
