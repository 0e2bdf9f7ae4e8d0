# With the runtime's event manager no thread of base's managers exists in a program that uses sockets, delays, timeouts,
# timers, children and signals: no Haskell thread in the event log, and no OS thread. Base's managers start when the
# program first asks for one, and serve what is registered with them beside the runtime's.
. "${BASH_SOURCE[0]%/*}/common.bash"
for needed in ghc-events network process; do
    ghc-pkg --simple-output list $needed | grep -q . || { echo "the Haskell package $needed is not installed"; exit 77; }
done

cat >Main.hs <<'HASKELL'
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import qualified Data.ByteString.Char8 as B
import Debug.Trace
import GHC.Event hiding (closeFd)
import Network.Socket
import Network.Socket.ByteString
import System.Directory
import System.Environment
import System.Posix.IO
import System.Posix.Signals
import System.Process (readProcess)
import System.Timeout

main :: IO ()
main = do
  use
  threads <- length <$> listDirectory "/proc/self/task"
  putStrLn ("OS threads: " ++ show threads)
  args <- getArgs
  when (args == ["ask"]) ask
  traceMarkerIO "end"

-- Everything that has to do with events, but base's event manager itself.
use :: IO ()
use = do
  server <- socket AF_INET Stream defaultProtocol
  bind server (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen server 5
  address <- getSocketName server
  _ <- forkIO (accept server >>= \(c, _) -> threadDelay 5000 >> recv c 10 >>= sendAll c)
  client <- socket AF_INET Stream defaultProtocol
  connect client address
  sendAll client (B.pack "echo")
  recv client 10 >>= print
  timeout 5000 (recv client 10 >> recv client 10 >> newEmptyMVar >>= takeMVar :: IO ()) >>= print
  timeout 5000 (newEmptyMVar >>= takeMVar :: IO ()) >>= print
  v <- registerDelay 5000
  atomically (readTVar v >>= check)
  fired <- newEmptyMVar
  timers <- getSystemTimerManager
  _ <- registerTimeout timers 5000 (putMVar fired "timer")
  takeMVar fired >>= putStrLn
  readProcess "cat" [] "child" >>= putStrLn
  _ <- installHandler sigUSR1 (Catch (putMVar fired "handler")) Nothing
  raiseSignal sigUSR1
  takeMVar fired >>= putStrLn

-- Registers a descriptor with base's manager, and waits for others in the usual way meanwhile.
ask :: IO ()
ask = do
  traceMarkerIO "asks"
  Just manager <- getSystemEventManager
  (r, w) <- createPipe
  (r2, w2) <- createPipe
  events <- newChan
  key <- registerFd manager (\_ e -> fdRead r 1 >>= \(s, _) -> writeChan events (s, e)) r evtRead MultiShot
  forM_ "abc" $ \c -> do
    done <- newEmptyMVar
    _ <- forkIO (threadWaitRead r2 >> fdRead r2 1 >>= putMVar done . fst)
    threadDelay 2000
    _ <- fdWrite w [c]
    readChan events >>= print
    _ <- fdWrite w2 [c]
    takeMVar done >>= print
  unregisterFd manager key
  _ <- fdWrite w "d"
  timeout 5000 (readChan events) >>= print
  traceMarkerIO "asked"
HASKELL
"$HECATON" ghc -v0 -O -threaded -eventlog -rtsopts Main.hs -o main

cat >expected <<'TEXT'
"echo"
Nothing
Nothing
timer
child
handler
TEXT
asked='("a",[evtRead])
"a"
("b",[evtRead])
"b"
("c",[evtRead])
"c"
Nothing'

for n in 1 2 4; do
    ./main +RTS -l -N$n >out
    grep -v '^OS' out | diff expected - || fail "-N$n: said $(cat out)"
    ghc-events show main.eventlog >shown
    ! grep 'Manager' shown || fail "-N$n: base's manager runs"
    ours=$(sed -n 's/^OS threads: //p' out)
    # The manager of base has a thread for each HEC and one for timers, which sleep in system calls.
    GHCRTS=--io-manager=base ./main +RTS -l -N$n >out
    grep -v '^OS' out | diff expected - || fail "-N$n, base: said $(cat out)"
    [ "$(ghc-events show main.eventlog | grep -c 'label.*Manager')" = $((n + 1)) ] || fail "-N$n, base: its threads are not in the log"
    base=$(sed -n 's/^OS threads: //p' out)
    [ "$ours" -lt "$base" ] || fail "-N$n: $ours OS threads, $base with base's manager"

    ./main ask +RTS -l -N$n >out
    { cat expected; echo "$asked"; } | diff - <(grep -v '^OS' out) || fail "-N$n ask: said $(cat out)"
    ghc-events show main.eventlog >shown
    ! sed '/marker: asks/,$d' shown | grep 'Manager' || fail "-N$n ask: base's manager runs too early"
    [ "$(grep -c 'label.*IOManager on cap' shown)" = $n ] || fail "-N$n ask: base's manager does not run on all HECs"
    ! grep 'label.*TimerManager' shown || fail "-N$n ask: base's timer manager runs"
    sed '1,/marker: asks/d' shown | grep -q 'waits for descriptor' || fail "-N$n ask: the runtime's manager does not go on"
done
