# The network where the system denies something: io_uring (by a seccomp filter), or code that changes (by a seccomp
# filter, and by the kernel itself); and io_uring without -threaded. Programs answer as they do when nothing is denied;
# the event log says what is used instead, and why.
. "${BASH_SOURCE[0]%/*}/common.bash"
tests=$(readlink -f "${BASH_SOURCE[0]%/*}/..")
for needed in ghc-events network process; do
    ghc-pkg --simple-output list $needed | grep -q . || { echo "the Haskell package $needed is not installed"; exit 77; }
done
gcc -O -Wall -o deny "$tests/commands/deny.c"

programs=(libraries/network_echo conformance/events/events_wait_sockets conformance/events/events_close
    conformance/events/events_timeout conformance/events/events_process)
for program in "${programs[@]}"; do
    name=${program##*/}
    "$HECATON" ghc -v0 -O -threaded -eventlog -rtsopts -i"$tests/conformance/events" -outputdir $name-objects \
        -o $name "$tests/$program.hs"
    ./$name >$name.expected
done

# answers MANAGER DENIED OPTION… : what the event log says of the manager, when this is denied.
answers() {
    local manager=$1 denied=$2 code=0 n=-N1
    shift 2
    for program in "${programs[@]}"; do
        local name=${program##*/}
        ./deny "$denied" ./$name +RTS -l-aw -ollog $n "$@" >out 2>err || code=$?
        if [ $code = 77 ] && grep -q '^deny:' err; then
            echo "$denied cannot be denied here: not tested"
            return
        fi
        [ $code = 0 ] || fail "$name, $denied denied, $*: exit $code, said $(cat err)"
        diff $name.expected out || fail "$name, $denied denied, $*: answers differ"
        ghc-events show log | grep -q "event manager: $manager" ||
            fail "$name, $denied denied, $*: the log says $(ghc-events show log | grep 'event manager')"
        [ $n = -N1 ] && n=-N2 || n=-N1
    done
}

answers 'epoll$' io_uring --io-manager=auto
answers 'epoll, because io_uring is not available: denied by a seccomp filter' io_uring --io-manager=io_uring
for denied in code gain; do
    answers 'base, because the system does not let code be changed' $denied --io-manager=auto
done
./deny io_uring ./network_echo +RTS '-?' >out 2>err || true
cat out err | grep -q 'io_uring is not available here: denied by a seccomp filter' || fail "-? said $(cat out err)"

# Without -threaded there is no ring: a descriptor that it refers to would stay open after base has closed it.
"$HECATON" ghc -v0 -O -eventlog -rtsopts -i"$tests/conformance/events" -outputdir plain-objects -o plain \
    "$tests/conformance/events/events_wait_nonthreaded.hs"
./plain >plain.expected
timeout 60 ./plain +RTS -l-aw -ollog --io-manager=io_uring >out || fail "without -threaded, on io_uring: exit $?"
diff plain.expected out || fail "without -threaded, on io_uring: answers differ"
why='io_uring is not available: it needs a program that is linked with -threaded'
ghc-events show log | grep -q "event manager: epoll, because $why" ||
    fail "without -threaded: the log says $(ghc-events show log | grep 'event manager')"
