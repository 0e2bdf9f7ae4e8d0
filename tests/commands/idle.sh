# An idle program sleeps: in no way does a thread of its wake up at every tick. It is waited for that in ways of all
# kinds.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Monad
import Foreign.C
import qualified Hecaton.Event as Event
import System.Environment
import System.IO
import System.Posix.IO
import System.Posix.Signals
import System.Posix.Types

foreign import ccall safe "sleep" c_sleep :: CUInt -> IO CUInt
foreign import ccall unsafe socket :: CInt -> CInt -> CInt -> IO CInt
foreign import ccall unsafe listen :: CInt -> CInt -> IO CInt

-- Ways of doing nothing for a minute, after some work.
main :: IO ()
main = do
  kind : _ <- getArgs
  print (length (show (product [1 .. 3000 :: Integer])))
  done <- newEmptyMVar
  case kind of
    "delay" -> threadDelay 60000000
    "mvar" -> forkIO (threadDelay 60000000 >> putMVar done ()) >> takeMVar done
    "getline" -> getLine >>= putStrLn
    "read" -> createPipe >>= \(r, _) -> threadWaitRead r
    "accept" -> do
      s <- socket 2 1 0
      0 <- listen s 1
      threadWaitRead (Fd s)
    "signal" -> installHandler sigUSR1 (Catch (putMVar done ())) Nothing >> takeMVar done
    "call" -> void (c_sleep 60)
    "call beside" -> forkIO (c_sleep 60 >> putMVar done ()) >> takeMVar done
    "loop" -> do
      manager <- Event.new
      -- After a callback that blocks for a while.
      _ <- Event.registerTimeout manager 1000 (threadDelay 20000)
      Event.loop manager
    "second" -> replicateM_ 60 (threadDelay 1000000)
    _ -> error "what?"
END
ways=(plain threaded debug eventlog threaded-debug threaded-eventlog)
for way in "${ways[@]}"; do
    flags=()
    for flag in ${way//-/ }; do
        [ "$flag" = plain ] || flags+=("-$flag")
    done
    "$HECATON" ghc -v0 -O -rtsopts "${flags[@]}" -outputdir "$way" -o "$way-main" Main.hs
done

# How often the threads of process $1 have gone to sleep so far.
sleeps() {
    cat /proc/"$1"/task/*/status | awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }'
}

milliseconds() {
    local now=${EPOCHREALTIME/[.,]/}
    echo $((now / 1000))
}

pids=()
names=()
trap 'kill "${pids[@]}" 2>/dev/null || true' EXIT
mkfifo never
exec 9<>never

# started PROGRAM ARGUMENT… : runs it beside the others.
started() {
    "$@" <never >/dev/null 2>&1 &
    pids+=($!)
    names+=("$*")
}

for kind in delay mvar getline read accept signal call 'call beside' loop second; do
    started ./plain-main "$kind" +RTS -s
    started ./threaded-main "$kind" +RTS -N2
done
for way in "${ways[@]}"; do
    for kind in mvar getline second; do
        started "./$way-main" "$kind"
    done
done
for kind in delay accept; do
    started ./threaded-main "$kind" +RTS -I0
    started ./threaded-main "$kind" +RTS -I0.1 -Iw30 -N4
    started ./plain-main "$kind" +RTS -V0.001
    started ./eventlog-main "$kind" +RTS -l -ol"$kind".eventlog
done

# They have begun to wait when each has slept for a while: idle collections come 0.3 s later.
sleep 3
begun=$(milliseconds)
before=()
for pid in "${pids[@]}"; do before+=("$(sleeps "$pid")"); done
sleep 3
for i in "${!pids[@]}"; do
    after=$(sleeps "${pids[i]}") || fail "${names[i]} has ended"
    slept=$((after - before[i])) ticks=$((($(milliseconds) - begun) / 10))
    # What does something every second takes a few ticks each time.
    most=$((ticks / 50))
    [[ "${names[i]}" != *second* ]] || most=$((ticks / 3))
    [ $slept -le $most ] || fail "${names[i]}: its threads woke up $slept times in $ticks ticks"
done
