# The event log of several processing elements (PEs): one file that `ghc-events` accepts, with the HECs and threads of
# all, in the order of their times. Steals between PEs, on one machine and over hosts; and PEs that are killed.
. "${BASH_SOURCE[0]%/*}/common.bash"
ghc-pkg --simple-output list ghc-events | grep -q ghc-events || { echo "the Haskell package ghc-events is not installed"; exit 77; }

mkdir -p read o
cat >read/Check.hs <<'HASKELL'
-- check HECS LOG : is it the log of PEs with that many HECs each? Prints which PE stole from which, how often.
import Control.Monad
import Data.Char
import Data.List
import qualified Data.Map as M
import GHC.RTS.Events
import GHC.RTS.Events.Analysis
import GHC.RTS.Events.Analysis.Capability
import GHC.RTS.Events.Analysis.Thread
import System.Environment
import System.Exit

main :: IO ()
main = do
  hecs : file : how <- getArgs
  let counts = read hecs :: [Int]
      peOf cap = length (takeWhile (<= cap) (tail (scanl (+) 0 counts)))
  written <- either error (events . dat) <$> readEventLogFromFile file
  let es = sortEvents written
      of' cap = [evTime e | e <- written, evCap e == Just cap]
      caps = sort (nub [c | Event _ (CapCreate c) _ <- es])
      duplicates xs = xs \\ nub xs
      threads = [t | Event _ (CreateThread t) _ <- es]
      sets = sort [s | Event _ (CapsetCreate s CapsetOsProcess) _ <- es]
      members s = sort [c | Event _ (CapsetAssignCap s' c) _ <- es, s' == s]
      steals = [(peOf to, peOf from) | Event _ (SparkSteal from) (Just to) <- es]
      require what ok = unless ok (die what)
  require ("HECs: " ++ show caps) (caps == [0 .. sum counts - 1])
  forM_ caps $ \c -> require ("times of HEC " ++ show c) (and (zipWith (<=) (of' c) (drop 1 (of' c))))
  require "threads that have the same number" (null (duplicates threads))
  require "sets of HECs" (map members sets == [[c | c <- caps, peOf c == pe] | pe <- [0 .. length counts - 1]])
  require "the names of the sets" (null (duplicates sets))
  require "process numbers" (length (nub [p | Event _ (OsProcessPid _ p) _ <- es]) == length counts)
  holds "threads on HECs" capabilityThreadRunMachine es
  holds "threads by HECs" capabilityThreadPoolMachine es
  holds "tasks on HECs" capabilityTaskPoolMachine es
  holds "tasks and OS threads" capabilityTaskOSMachine es
  holds "threads" (indexM threadOf (refineM evSpec threadMachine)) es
  -- What was sent has come, and not before: clocks agree to a tenth of a second.
  let said = [(evTime e, words (show' m)) | e@(Event _ (Message m) _) <- es]
      loans way pe = [t | (t, ["LEND", w, "PE", p, _, _]) <- said, w == way, takeWhile isDigit p == pe]
      sent = sort (loans "to" "1")
      came = sort (loans "from" "0")
  when (length counts == 2 && how /= ["killed"]) $ do
    require ("loans: " ++ show (length sent, length came)) (length sent == length came)
    require ("clocks: " ++ show (zip sent came)) (and (zipWith (\a b -> abs (num b - num a) < 100000000) sent came))
  let ended = length [() | Event _ (CapDelete _) _ <- es]
  require "HECs that do not end" (how == ["killed"] || ended == length caps)
  forM_ (group (sort steals)) $ \s@((to, from) : _) -> when (to /= from) (putStrLn (unwords (map show [to, from, length s])))
 where
  show' = filter (/= '"') . show
  num t = fromIntegral t :: Integer

holds :: String -> Machine s Event -> [Event] -> IO ()
holds what m es = case validate m es of
  Left (_, e) -> die (what ++ ": does not fit: " ++ show e)
  Right _ -> return ()

threadOf :: Event -> Maybe ThreadId
threadOf e = case evSpec e of
  CreateThread t -> Just t
  RunThread t -> Just t
  StopThread t _ -> Just t
  WakeupThread t _ -> Just t
  MigrateThread t _ -> Just t
  _ -> Nothing
HASKELL
ghc -v0 -O -outputdir read/o read/Check.hs -o read/check

cat >ParFib.hs <<'HASKELL'
import Control.Concurrent
import Control.Monad
import Control.Parallel
import Debug.Trace
import Hecaton.Cluster
import System.Environment
import System.IO

fib :: Int -> Integer
fib n = if n < 2 then 1 else fib (n - 1) + fib (n - 2)

parFib :: Int -> Int -> Integer
parFib limit n | n <= limit = fib n
parFib limit n = a `par` (b `pseq` (a + b))
  where
    a = parFib limit (n - 1)
    b = parFib limit (n - 2)

main :: IO ()
main = do
  args <- getArgs
  n <- numPEs
  forM_ [0 .. n - 1] $ \pe -> remoteOn (PE pe) (traceEventIO ("here is " ++ show pe)) >>= await
  case args of
    ["grow"] -> do
      remoteOn (PE 1) (setNumCapabilities 3) >>= await
      print (parFib 20 30)
    ["wait"] -> putStrLn "ready" >> hFlush stdout >> threadDelay 60000000
    [k] -> print (parFib 24 (read k))
HASKELL
# PE 1 begins later than the others: its clock does.
cat >late.c <<'C'
#include <stdlib.h>
#include <unistd.h>

static void __attribute__((constructor)) late(void)
{
    const char *membership = getenv("HECATON_SPREAD");
    if (membership && membership[0] == '1')
        usleep(300000);
}
C
"$HECATON" ghc -v0 -O -threaded -eventlog -rtsopts -package parallel -package hecaton -outputdir o -o parfib ParFib.hs late.c
spread=(timeout 100 "$HECATON" spread)

# log HECS LOG [killed] : checks a log. What was stolen is in `steals`.
log() {
    read/check "$@" >steals || fail "$run: $2 makes no sense"
}

# Steals are seen at each PE; with more HECs than cores there may be none.
for n in 2 3; do
    for hecs in 1 2; do
        run="-n $n -N$hecs"
        "${spread[@]}" -n $n ./parfib 38 +RTS -l -N$hecs >out 2>err || fail "$run: exit $?: $(cat err)"
        [ "$(cat out)" = 63245986 ] && [ ! -s err ] || fail "$run: $(cat out err)"
        log "[$(yes $hecs | head -n $n | paste -sd,)]" parfib.eventlog
        [ $hecs = 2 ] || [ "$(cut -d ' ' -f 1 steals | sort -u | wc -l)" = $n ] ||
            fail "$run: steals are missing: $(cat steals)"
        for ((pe = 0; pe < n; pe++)); do
            [ "$(ghc-events show parfib.eventlog | grep -c "cap $((pe * hecs)).*here is $pe\$\|here is $pe\$")" = 1 ] ||
                fail "$run: what PE $pe says is missing"
        done
        # The last event is the end of a set of HECs.
        [ "$(tail -c 2 parfib.eventlog | od -An -tx1)" = ' ff ff' ] || fail "$run: the log has no end"
        rm parfib.eventlog
    done
done

# Another file; small buffers do not matter; more HECs in the middle come after the others.
run=-ol
"${spread[@]}" -n 2 ./parfib 33 +RTS -l -olanother -A64k >out 2>err && [ -s another ] && [ ! -e parfib.eventlog ] ||
    fail "-ol: $(ls) $(cat err)"
log '[1,1]' another
run=setNumCapabilities
"${spread[@]}" -n 2 ./parfib grow +RTS -l -olgrown >out 2>err || fail "$run: $(cat err)"
log '[1,3]' grown
# Only events of the program.
run=-l-au
"${spread[@]}" -n 2 ./parfib 30 +RTS -l-au -olmessages >out 2>err || fail "$run: $(cat err)"
[ "$(ghc-events show messages | grep -c 'here is [01]$')" = 2 ] || fail "$run: messages are missing"

# Without -l nothing is written or sent.
"${spread[@]}" -n 2 ./parfib 30 >out 2>err && [ ! -s err ] && [ ! -e parfib.eventlog ] || fail "without -l: $(ls) $(cat err)"

# Over hosts, which are this machine by two names.
name=$(hostname)
if getent ahostsv4 "$name" >/dev/null; then
    printf '#!/bin/sh\nshift\nexec sh -c "$1"\n' >rsh && chmod +x rsh
    run=--hosts
    HECATON_RSH=$PWD/rsh "${spread[@]}" --hosts "localhost:1,$name:2" "$PWD/parfib" 38 +RTS -l -olhosts >out 2>err ||
        fail "$run: exit $?: $(cat err)"
    [ "$(cat out)" = 63245986 ] && [ ! -s err ] || fail "$run: $(cat out err)"
    log '[1,1,1]' hosts
    [ "$(cut -d ' ' -f 1 steals | sort -u | wc -l)" = 3 ] || fail "$run: steals are missing: $(cat steals)"
fi

# begin FILE : a run that waits, a while after it has begun; `command` is its process, and `pes` are its PEs.
begin() {
    : >out
    # Background commands of a script ignore SIGINT, and would hand that on.
    env --default-signal=INT "$HECATON" spread -n 2 ./parfib wait +RTS -l "-ol$1" >out 2>err </dev/null &
    command=$!
    for _ in $(seq 500); do
        ! grep -q ready out || break
        sleep 0.02
    done
    pes=($(pgrep -P $command | sort -n))
    # What is logged is passed on every second.
    sleep 2.5
}
# A PE that is killed: what it had logged is there.
run='a killed PE'
begin killed
kill -KILL "${pes[1]}"
wait $command && fail "$run: the run has ended well" || true
log '[1,1]' killed killed
for pe in 0 1; do
    ghc-events show killed 2>read/err | grep -q "here is $pe\$" || fail "$run: what PE $pe says is missing"
done
# PE 0 and the whole run are killed.
run='a killed run'
begin killed
kill -KILL "${pes[0]}" $command
wait $command && fail "$run: the run has ended well" || true
log '[1,1]' killed killed
# A PE that does not send the rest of its log is not waited for.
run='a stopped PE'
begin stopped
kill -STOP "${pes[1]}"
kill -INT "$command"
wait $command && fail "$run: the run has ended well" || true
[ "$(cat err)" = 'parfib: the event log has not all of PE 1' ] || fail "$run: said $(cat err)"
log '[1,1]' stopped killed
