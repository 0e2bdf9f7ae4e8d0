# What the event manager does can be seen: `-s` and `-t --machine-readable` count it, event logs have a line for every
# wait and every wake-up, which ghc-events shows, and the line that names the back end.
. "${BASH_SOURCE[0]%/*}/common.bash"
command -v ghc-events >/dev/null || { echo "the command ghc-events is not installed"; exit 77; }

cat >Main.hs <<'HASKELL'
import Control.Concurrent
import Control.Exception
import Control.Monad
import GHC.Conc (closeFdWith)
import System.Environment
import System.Posix.IO
import System.Timeout

-- Waits for descriptors, for time, and under a close; or for nothing.
main :: IO ()
main = do
  args <- getArgs
  when (args == ["waits"]) $ do
    (r, w) <- createPipe
    done <- newEmptyMVar
    let waits wait = forkIO (wait `finally` putMVar done ())
    _ <- waits (threadWaitRead r)
    threadDelay 20000
    _ <- fdWrite w "x"
    takeMVar done
    threadWaitWrite w
    when rtsSupportsBoundThreads $ do
      (idle, _) <- createPipe
      _ <- waits (void (try (threadWaitRead idle) :: IO (Either IOException ())))
      _ <- timeout 20000 (newEmptyMVar >>= takeMVar :: IO ())
      closeFdWith closeFd idle
      takeMVar done
  print (sum [1 .. 1000 :: Int])
HASKELL

for way in plain threaded; do
    flags=()
    [ $way = plain ] || flags=(-threaded)
    "$HECATON" ghc -v0 -O -rtsopts -eventlog "${flags[@]}" -outputdir $way -o $way-main Main.hs

    # Counts, if anything waited.
    ./$way-main waits +RTS -s 2>said >out
    grep -q '^  EVENTS: [1-9][0-9]* waits ([0-9]* verified), [1-9][0-9]* timers, [1-9][0-9]* wake-ups ([1-9][0-9]* by descriptors, [1-9][0-9]* by timers)$' said ||
        fail "$way, waits: -s said $(cat said)"
    grep -q '^  POLLS: [1-9][0-9]* ([1-9][0-9]* blocked, [0-9]* of them woken by other tasks)$' said ||
        fail "$way, waits: -s said $(cat said)"
    ./$way-main waits +RTS -t --machine-readable 2>said >out
    for key in waits timers wakeups_by_descriptors wakeups_by_timers polls polls_blocked; do
        grep -q "(\"event_$key\", \"[1-9][0-9]*\")" said || fail "$way, waits: $key is missing in $(cat said)"
    done
    ./$way-main none +RTS -s 2>said >out
    ! grep -q 'EVENTS\|POLLS' said || fail "$way, none: -s said $(cat said)"
    ./$way-main none +RTS -t --machine-readable 2>said >out
    ! grep -q event_ said || fail "$way, none: -t said $(cat said)"

    # Lines in the event log.
    ./$way-main waits +RTS -l -olfull >out
    ghc-events show full >shown
    for line in 'event manager: epoll' \
        'cap 0: thread [0-9]* waits for 20000 us' 'cap 0: thread [0-9]* is woken by its deadline, [0-9]* us late' \
        'cap 0: thread [0-9]* waits for descriptor [0-9]* (read)' 'cap 0: thread [0-9]* is woken by descriptor [0-9]*' \
        'cap 0: thread [0-9]* waits for descriptor [0-9]* (write)'; do
        grep -q "^[0-9]*: $line\$" shown || fail "$way: the log has no \"$line\""
    done
    if [ $way = threaded ]; then
        for line in 'thread [0-9]* is woken by a close of its descriptor' 'a timer waits for [0-9]* us' \
            'a timer is woken by its deadline, [0-9]* us late'; do
            grep -q "^[0-9]*: cap 0: $line\$" shown || fail "$way: the log has no \"$line\""
        done
    fi
    # Each thread waits before it is woken, and no more often.
    awk '/ waits for /   { who = $4 $5; if (waiting[who]++ && who ~ /^thread/) bad = who }
         / is woken by / { who = $4 $5; if (waiting[who]-- < 1) bad = who }
         END { if (bad) { print bad; exit 1 } }' <(grep '^[0-9]*: cap 0: thread' shown | sed 's/^[0-9]*: /x /') ||
        fail "$way: the log does not make sense: $(cat shown)"
    # The class can be left out, and be chosen alone.
    ./$way-main waits +RTS -l-w -olwithout >out
    ! ghc-events show without | grep -q 'waits for\|is woken by\|event manager' || fail "$way: -l-w has waits"
    ./$way-main waits +RTS -l-aw -olalone >out
    ghc-events show alone >shown
    grep -q 'waits for' shown || fail "$way: -l-aw has no waits"
    ! grep -q 'creating thread' shown || fail "$way: -l-aw has other events"
    # The back end.
    ./$way-main waits +RTS -l-aw -olpoll --io-manager=poll >out
    ghc-events show poll | grep -q '^[0-9]*: event manager: poll$' || fail "$way: the log does not name the back end poll"
done
./threaded-main waits +RTS -l-aw -olbase --io-manager=base >out
ghc-events show base | grep -q '^[0-9]*: event manager: base$' || fail "the log does not name the manager of base"
