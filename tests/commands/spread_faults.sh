# The loss of processing elements. Pure work gives its answer all the same, whichever of PEs 1 to 3 are killed, and
# when; what only they had raises PELost. A PE that is silent, or has no memory, counts as lost. All end with PE 0.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"
unset HECATON_LOSS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package parallel -package containers -package unix \
    -outputdir o -o faults "$spread_programs/Faults.hs" "$spread_programs/faults.c"
./faults work 4 >answer

# Kills PEs when they have done so much, which the seed says, and not the time.
killed=0
for seed in $(seq 30); do
    RANDOM=$seed
    n=$((2 + RANDOM % 3))
    kills=
    for ((pe = 1; pe < n; pe++)); do
        kills+=$pe:$((RANDOM % (1 + RANDOM % 200))),
    done
    options=(+RTS -N$((1 + RANDOM % 2)) -A64k)
    check=
    [ $((seed % 3)) != 0 ] || check=heap
    KILLS=$kills HECATON_CHECK=$check timeout 120 "$HECATON" spread -n $n ./faults work 4 "${options[@]}" >out 2>err ||
        fail "seed $seed, $n PEs, KILLS=$kills, check '$check': exit $?: $(tail -5 err)"
    diff answer out || fail "seed $seed, $n PEs, KILLS=$kills, check '$check'"
    ! grep -v '^hecaton: PE [1-3] is lost: killed by SIGKILL; its work is done again$' err || fail "seed $seed"
    killed=$((killed + $(wc -l <err)))
done
# How much they do depends on how busy the machine is.
[ "$killed" -ge 5 ] || fail "$killed PEs were killed"

# Over several hosts their agents say it. What reaches "a host" runs the command here.
printf '#!/bin/sh\nshift\ncd /\nexec sh -c "$*"\n' >rsh
chmod +x rsh
KILLS=1:0,3:3, HECATON_SILENCE=3 HECATON_RSH=$PWD/rsh timeout 120 \
    "$HECATON" spread --hosts "localhost:2,$(uname -n):2" ./faults work 4 >out 2>err || fail "hosts: exit $?: $(tail -5 err)"
diff answer out || fail hosts
! grep -v '^hecaton: host [^ ]*: PE [13] is lost: killed by SIGKILL; its work is done again$' err || fail hosts

# What only a lost PE had.
{
    echo '[5757,5780,5815]'
    for name in waits future taker kept put list throw again; do
        echo "$name: a processing element was lost"
    done
    printf '%s\n' 'on: 2568' "own: Just 'o'" "other: 'z'"
} >expected
# lost HOW TEXT : PE 1 is lost so, which is said so.
lost() {
    timeout 120 "$HECATON" spread -n 3 ./faults lost "$1" >out 2>err || fail "$1: exit $?: $(tail -5 err)"
    diff expected out || fail "$1"
    diff <(echo "$2") err || fail "$1"
}
lost killed 'hecaton: PE 1 is lost: killed by SIGKILL; its work is done again'
export HECATON_SILENCE=3
lost stopped 'faults: PE 1 was silent for 3 s; its work is done again'
unset HECATON_SILENCE

# A PE without memory.
timeout 120 "$HECATON" spread -n 2 ./faults memory +RTS -M200m >out 2>err || fail "memory: exit $?: $(tail -5 err)"
diff <(printf '%s\n' 'memory: a processing element was lost' 10946 'work: ()') out || fail memory
[ "$(head -n 1 err)" = 'faults: PE 1: heap exhausted' ] || fail "memory: $(cat err)"

# PE 0.
"$HECATON" spread -n 3 ./faults wait >out 2>err &
command=$!
until grep -q ready out; do sleep 0.02; done
kill -KILL "$(pgrep -P "$command" | sort -n | head -n 1)"
got=0
wait "$command" || got=$?
[ "$got" = 137 ] || fail "PE 0 was killed: exit $got: $(cat err)"
[ ! -s err ] || fail "PE 0 was killed: $(cat err)"
