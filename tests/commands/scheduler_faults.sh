# A scheduler that fails: one line on standard error, which names it and says what it did; the end of the program with
# --scheduler-faults=fatal; the details in the event log.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'X'
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import qualified Data.Sequence as Seq
import Hecaton.RunQueue (forkBuiltIn)
import Hecaton.Substrate
import Hecaton.Substrate.Group
import System.Environment

-- A FIFO, until one of its two activations fails.
main :: IO ()
main = do
  [name, how] <- getArgs
  fails <- newTVarIO False
  queue <- newTVarIO Seq.empty
  newGroup name Nothing usualPromise {restTime = 1} >>= setGroup
  setDequeueAct $ \_ -> do
    now <- readTVar fails
    when (now && how == "dequeue") (throwSTM (userError "no thread"))
    threads <- readTVar queue
    case Seq.viewl threads of
      first Seq.:< others | not (now && how == "rest") -> writeTVar queue others >> return first
      _ -> retry
  setEnqueueAct $ \s -> do
    now <- readTVar fails
    when (now && how == "enqueue") (throwSTM (userError "two\nlines"))
    modifyTVar' queue (Seq.|> s)
  -- The queue stays reachable, and something runs.
  _ <- forkBuiltIn (forever (threadDelay 50000 >> readTVarIO queue))
  done <- newEmptyMVar
  forM_ [1 .. 3 :: Int] $ \i -> forkIO (threadDelay 1000 >> putMVar done i)
  atomically (writeTVar fails (how /= "nothing"))
  ended <- replicateM 3 (takeMVar done)
  print (sum ended)
X
"$HECATON" ghc -v0 -O -threaded -eventlog -rtsopts -outputdir objects Main.hs -o faulty

# fails HOW LINE [NAME]: the program goes on, and says just this.
fails() {
    ./faulty "${3-}" "$1" >out 2>err || fail "$1: exit $?"
    [ "$(cat out)" = 6 ] || fail "$1: printed $(cat out)"
    [ "$(cat err)" = "$2" ] || fail "$1: said $(cat err)"
}
fails nothing ''
fails dequeue 'faulty: faulty scheduler 1: its dequeue activation raised: user error (no thread)'
fails enqueue 'faulty: faulty scheduler 1 (mine): its enqueue activation raised: user error (two lines)' mine
fails rest 'faulty: faulty scheduler 1: none of its threads has run for 1 s, although one is ready'

code=0
./faulty mine dequeue +RTS --scheduler-faults=fatal >out 2>err || code=$?
[ $code = 1 ] || fail "fatal: exit $code"
[ ! -s out ] || fail "fatal: printed $(cat out)"
[ "$(cat err)" = 'faulty: faulty scheduler 1 (mine): its dequeue activation raised: user error (no thread)' ] ||
    fail "fatal: said $(cat err)"

./faulty mine dequeue +RTS --scheduler-faults=eject -l-as -ollog 2>err
grep -qa 'faulty scheduler 1 (mine): its dequeue .*; its threads: [0-9]* ready, [0-9]* waiting, [0-9]* runnable, [0-9]* blocked' log ||
    fail "the event log does not say what became of the threads"

! ./faulty mine nothing +RTS --scheduler-faults=no 2>err || fail "a wrong option is accepted"
