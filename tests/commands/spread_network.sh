# `hecaton spread --hosts` over a network that is slow and loses packets: the loopback of a namespace of its own, which
# netem delays, or, where there is none, a queue that is too short for what is sent.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"

if [ -z "${IN_NAMESPACE-}" ]; then
    command -v ip tc >/dev/null || { echo 'iproute2 is not installed'; exit 77; }
    unshare -rn true 2>/dev/null || { echo 'network namespaces are not allowed here'; exit 77; }
    make_work
    cat >Large.hs <<'HS'
import Control.Exception
import Control.Monad
import Hecaton.Cluster

-- Lists that are made elsewhere, and fetched.
main :: IO ()
main = do
  n <- numPEs
  lists <- forM [0 .. n - 1] $ \pe ->
    remoteOn (PE pe) (let xs = [pe .. pe + 200000] in xs <$ evaluate (length xs)) >>= await
  print (map sum lists)
HS
    "$HECATON" ghc -v0 -O -threaded -package hecaton -outputdir olarge -o large Large.hs
    IN_NAMESPACE=1 exec unshare -rn bash -eu "${BASH_SOURCE[0]}"
fi
ip link set lo up
export HECATON_RSH="sh -c 'eval \"\$2\"' rsh" HECATON_SEED=1
hosts=localhost:2,127.0.0.1:1
dropped() {
    tc -s qdisc show dev lo | sed -n 's/.*(dropped \([0-9]*\),.*/\1/p'
}
# Over each kind of bad network.
try() {
    tc qdisc add dev lo root "$@" 2>/dev/null || return 0
    tried=1
    gives_work timeout 200 "$HECATON" spread --hosts "$hosts" ./work 15 27
    timeout 200 "$HECATON" spread --hosts "$hosts" ./large >out
    [ "$(cat out)" = '[20000100000,20000300001,20000500002]' ] || fail "lists: $(cat out)"
    [ "$(dropped)" -gt 20 ] || fail "only $(dropped) packets were lost: $*"
    tc qdisc del dev lo root
}
tried=
try netem delay 1ms 500us loss 3% duplicate 2% reorder 5%
try tbf rate 100mbit burst 5k limit 8k
[ -n "$tried" ] || { echo 'the kernel has neither netem nor token buckets'; exit 77; }
