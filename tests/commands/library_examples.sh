# The example server written with events and the one written with threads answer alike.
. "${BASH_SOURCE[0]%/*}/common.bash"
examples=$(dirname "$HECATON")/library/examples
[ -n "$(ghc-pkg list --global --simple-output network)" ] || { echo "the Haskell package network is not installed"; exit 77; }
command -v curl >/dev/null || { echo "curl is not installed"; exit 77; }

# asked PROGRAM FLAGS… : what it answers to some requests over one connection, and to clients beside each other.
asked() {
    local program=$1 server port='' clients=()
    shift
    "./$program" 0 "$@" >"$program.out" 2>"$program.err" &
    server=$!
    trap 'kill $server 2>/dev/null || true' EXIT
    for _ in $(seq 100); do
        port=$(sed -n 's/^listening on //p' "$program.out")
        [ -z "$port" ] || break
        sleep 0.1
    done
    [ -n "$port" ] || fail "$program does not listen: $(cat "$program.err")"
    curl -s --max-time 20 -w ' %{http_code}\n' "http://127.0.0.1:$port/"{a,b,c}
    for n in $(seq 20); do
        curl -s --max-time 20 "http://127.0.0.1:$port/" >"answer.$n" &
        clients+=($!)
    done
    wait "${clients[@]}"
    cat answer.*
    kill "$server"
    wait "$server" 2>/dev/null || true
    trap - EXIT
}

for program in pong_events pong_threads; do
    "$HECATON" ghc -v0 -O -threaded -rtsopts -i"$examples" -outputdir "objects-$program" -o "$program" "$examples/$program.hs"
done
asked pong_threads +RTS -N2 >threads
grep -q '^Pong! 200$' threads || fail "no answer: $(cat threads)"
for hecs in 1 2; do
    asked pong_events +RTS -N$hecs >events
    diff threads events
done

# With more clients than descriptors, the server neither spins nor ends, and answers when clients have left.
(ulimit -n 30 && exec ./pong_events 0) >few.out 2>few.err &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    port=$(sed -n 's/^listening on //p' few.out)
    [ -z "$port" ] || break
    sleep 0.1
done
held=()
for _ in $(seq 40); do
    exec {one}<>"/dev/tcp/127.0.0.1/$port"
    held+=("$one")
done
for _ in $(seq 100); do
    ! grep -q 'cannot accept' few.err || break
    sleep 0.1
done
ticks() { awk '{ print $14 + $15 }' "/proc/$server/stat"; }
before=$(ticks)
sleep 1
[ $(($(ticks) - before)) -le 20 ] || fail "the server spins without descriptors"
grep -q 'cannot accept' few.err || fail "the server had enough descriptors"
for one in "${held[@]}"; do exec {one}>&-; done
says 'Pong!' curl -s --max-time 20 "http://127.0.0.1:$port/"
