# `hecaton spread`: one program over several PEs. Output, input, exit codes, signals, refusals, lost PEs; and nothing is
# left behind.
. "${BASH_SOURCE[0]%/*}/common.bash"
tests=$(readlink -f "${BASH_SOURCE[0]%/*}/..")

cat >Main.hs <<'HS'
{-# LANGUAGE CApiFFI #-}

import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.C.Types
import Foreign.StablePtr
import GHC.Conc (PrimMVar, newStablePtrPrimMVar)
import Hecaton.Cluster
import System.Environment
import System.Exit
import System.IO
import System.Posix.Process (forkProcess)
import System.Posix.Signals

foreign import ccall unsafe "hec_ping" c_ping :: CInt -> CSize -> StablePtr PrimMVar -> IO CBool

foreign import ccall safe "hec_ping_transport" c_pingTransport :: CInt -> CSize -> CULong -> IO CBool

foreign import ccall unsafe "usleep" c_unsafeSleep :: CUInt -> IO CInt

-- | Pings a PE through HECs, and waits for the answer.
ping :: CInt -> CSize -> IO ()
ping pe size = do
  var <- newEmptyMVar
  pointer <- newStablePtrPrimMVar var
  1 <- c_ping pe size pointer
  takeMVar var

-- | Computes for ever, and allocates little: a collection would wait for unsafe calls.
spin :: Int -> IO ()
spin n = evaluate (count n 10000) >>= spin

count :: Int -> Int -> Int
count n 0 = n
count n left = count (n * 3 + left) (left - 1)
{-# NOINLINE count #-}

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["where"] -> do
      PE pe <- myPE
      n <- numPEs
      putStrLn (show pe ++ " of " ++ show n)
    ["environment"] -> getEnvironment >>= mapM_ print . filter (("HECATON_SPREAD" ==) . fst)
    ["exit", code] -> exitWith (ExitFailure (read code))
    ["copy"] -> getContents >>= putStr
    ["both"] -> putStrLn "out" >> hPutStrLn stderr "err" >> putStr "no end"
    ["raise"] -> raiseSignal sigSEGV
    ["fork"] -> void (forkProcess (return ()))
    ["ping", count] -> do
      let others = [1 .. read count - 1]
      refused <- newEmptyMVar >>= newStablePtrPrimMVar
      mapM (\pe -> c_ping pe 1 refused) [-1, 0, read count] >>= print
      forM_ [0, 1, 65000, 70000, 1000000] $ \size -> forM_ others $ \pe -> ping pe size
      forM_ [0, 70000] $ \size -> forM_ others $ \pe -> c_pingTransport pe size 10
      done <- forM [(n, pe) | n <- [1 .. 20], pe <- others] $ \(n, pe) -> do
        var <- newEmptyMVar
        var <$ forkIO (replicateM_ 20 (ping pe (n * 5000)) >> putMVar var ())
      mapM_ takeMVar done
      putStrLn "answered"
    -- The HEC has a thread that is never done. Answers do not wait for the end of its slice of 20 ms.
    ["ping_beside_work"] -> do
      _ <- forkIO (spin 1)
      replicateM_ 1000 (ping 1 100) >> putStrLn "answered"
    -- A HEC that is asked does not come, and the other one has a thread that is never done.
    ["ping_beside_call"] -> do
      _ <- forkOn 1 (void (c_unsafeSleep 60000000))
      _ <- forkOn 0 (spin 1)
      threadDelay 20000
      replicateM_ 10 (ping 1 100) >> putStrLn "answered" >> hFlush stdout
      raiseSignal sigKILL
    ["work"] -> print (sum (map length (replicate 200 [1 .. 20000 :: Int])))
    ["many"] -> forM_ [1 .. 20000 :: Int] print
    ["interrupted"] -> (putStrLn "ready" >> hFlush stdout >> threadDelay 60000000) `catch` \e ->
      putStrLn ("caught " ++ show (e :: AsyncException)) >> exitWith (ExitFailure 7)
    _ -> putStrLn "ready" >> hFlush stdout >> threadDelay 60000000
HS
# What each PE does before its runtime starts.
cat >early.c <<'C'
#include <stdlib.h>
#include <unistd.h>

static void put(int to, const char *text, int length)
{
    if (write(to, text, length) != length)
        abort();
}

static void __attribute__((constructor)) early(void)
{
    const char *membership = getenv("HECATON_SPREAD");
    char byte;
    if (!getenv("EARLY") || !membership)
        return;
    if (membership[0] != '0' && read(0, &byte, 1) != 0)
        put(1, "input\n", 6);
    for (int i = 0; i < 200; i++)
        for (int to = 1; to <= 2; to++) {
            put(to, "begin ", 6);
            usleep(rand() % 200);
            put(to, "end\n", 4);
        }
    if (membership[0] != '0')
        put(1, "no end", 6);
}
C
"$HECATON" ghc -v0 -O -threaded -rtsopts -package unix -outputdir o -o main Main.hs early.c
spread=("$HECATON" spread)

# ends CODE OUT ERR COMMAND… : the exit code, and the whole outputs.
ends() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    "$@" >out 2>err </dev/null || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got instead of $code: $(cat err)"
    diff out <(printf "$out") || fail "$*: standard output"
    diff err <(printf "$err") || fail "$*: standard error"
}

# Processes of the program that run.
running() {
    local found=0 pid
    for pid in /proc/[0-9]*; do
        # What is dead, and not yet waited for, has no program.
        [ "$(readlink "$pid/exe")" != "$PWD/main" ] || found=$((found + 1))
    done
    echo $found
}
none_left() {
    for _ in $(seq 100); do
        [ "$(running)" != 0 ] || return 0
        sleep 0.02
    done
    fail "$(running) PEs are left after $1"
}

ends 0 '0 of 1\n' '' ./main where
for n in 1 2 4 17; do
    ends 0 "0 of $n\n" '' "${spread[@]}" -n $n ./main where
    ends 0 '' '' "${spread[@]}" -n $n ./main environment
    ends 3 '' '' "${spread[@]}" -n $n ./main exit 3
    ends 0 'out\nno end' 'err\n' "${spread[@]}" -n $n ./main both
    ends 0 '4000000\n' '' "${spread[@]}" -n $n ./main work
done
none_left 'runs that end'
# Messages through network tasks and HECs.
for n in 2 5; do
    for options in -N1 -N2 '-N1 -V0' '-N4 -A64k'; do
        ends 0 '[0,0,0]\nanswered\n' '' timeout 60 "${spread[@]}" -n $n ./main ping $n +RTS $options
    done
done
for options in -N1 -N2; do
    ends 0 'answered\n' '' timeout 10 "${spread[@]}" -n 2 ./main ping_beside_work +RTS $options
done
ends 137 'answered\n' '' timeout 60 "${spread[@]}" -n 2 ./main ping_beside_call +RTS -N2 -A64m
none_left 'pings'
ends 0 '4000000\n' '' "${spread[@]}" -n 3 ./main work +RTS -N2 -A64k
ends 0 '4000000\n' '' env HECATON_CHECK=heap,every-block,oversubscribe,gc-threads=2 "${spread[@]}" -n 3 ./main work
EARLY=1 "${spread[@]}" -n 4 ./main where >out 2>err </dev/zero
[ "$(sort out | uniq -c | tr -s ' ' | tr '\n' ,)" = ' 1 0 of 4, 800 begin end, 3 no end,' ] || fail "standard output of all: $(sort -u out)"
[ "$(sort err | uniq -c | tr -s ' ')" = ' 800 begin end' ] || fail "standard error of all: $(sort -u err)"
seq 30000 >lines
for n in 1 3; do
    "${spread[@]}" -n $n ./main copy <lines | cmp lines || fail "-n $n: standard input"
    [ "$("${spread[@]}" -n $n ./main many | sum)" = "$(seq 20000 | sum)" ] || fail "-n $n: many lines"
    [ "$("${spread[@]}" -n $n ./main many | head -n 1)" = 1 ] || fail "-n $n: a reader that ends"
done
none_left 'the reader has ended'

# All that the runtime says of its options is said once, by PE 0; so are its reports and files.
./main --version +RTS --info >expected
"${spread[@]}" -n 3 ./main --version +RTS --info | cmp expected || fail 'runtime options are answered more than once'
got=0
"${spread[@]}" -n 3 ./main where +RTS --nonsense >out 2>err || got=$?
[ "$got" = 1 ] && [ "$(grep -c 'nonsense' err)" = 1 ] || fail "a wrong option: exit $got, $(cat err)"
"${spread[@]}" -n 3 ./main where +RTS -s 2>err >out
[ "$(grep -c 'Total' err)" = 1 ] || fail "statistics: $(cat err)"
# What PEs have counted, in two tables: a line each, and the sum.
"${spread[@]}" -n 3 ./main ping 3 +RTS -sreport -A64k >out
sed -n "/^ *PE /,\$p" report >table
for word in "^ *PE  *sent" "^ *PE  *GCs"; do
    [ "$(grep -c "$word" table)" = 1 ] || fail "counts, $word: $(cat report)"
done
for word in "^ *0 " "^ *1 " "^ *2 " "^ *sum "; do
    [ "$(grep -c "$word" table)" = 2 ] || fail "counts, $word: $(cat report)"
done
[ "$(wc -L <table)" -le 120 ] || fail "counts are in long lines: $(cat report)"
awk '/^ *PE / { table++; columns = 11; split("", sum); next }
    table { gsub(",", ""); if (table == 2) gsub("s", "", $3) }
    table && NF == columns && $1 ~ /^[0-9]/ { for (i = 2; i <= columns; i++) sum[i] += $i }
    # A ping of a megabyte was answered; PEs without work have asked for it, and were refused; and something was
    # allocated.
    table == 1 && /^ *[012] / && !($3 > 1000000 && $5 > 1000000) { exit 1 }
    table == 1 && /^ *[12] / && !($6 > 0 && $7 > 0) { exit 1 }
    table == 1 { sent[$1] = $3 }
    # The kinds of messages have all bytes: steals are counted as loans, pings as control.
    table == 2 && /^ *[012] / && !($4 > 1000 && $7 > 0 && $10 > 1000000) { exit 1 }
    table == 2 && NF == columns && $6 + $7 + $8 + $9 + $10 != sent[$1] { exit 1 }
    table == 2 && /^ *0 / && !($2 > 0 && $3 > 0) { exit 1 }
    # Times are rounded.
    table && $1 == "sum" { for (i = 2; i <= columns; i++) if (($i - sum[i]) ^ 2 > 0.00001) exit 1; good++ }
    END { exit good != 2 }' table || fail "counts do not add up: $(cat report)"
"${spread[@]}" -n 2 ./main where +RTS -t >out 2>err
! grep -q 'borrowed' err || fail "counts are printed with -t: $(cat err)"
./main where +RTS -s >out 2>err
! grep -q 'borrowed' err || fail "a program by itself prints counts of PEs: $(cat err)"

for variable in HECATON_CHECK HECATON_SHOW HECATON_SCHEDULER GHCRTS; do
    got=0
    env $variable=nonsense "${spread[@]}" -n 3 ./main where >out 2>err || got=$?
    [ "$got" = 1 ] && [ ! -s out ] && [ "$(grep -c nonsense err)" = 1 ] || fail "$variable: exit $got, $(cat err)"
done

# A second process of the same number is refused, as an exception.
got=0
"${spread[@]}" -n 2 ./main fork >out 2>err || got=$?
[ "$got" = 1 ] && grep -q 'forkProcess.*upported' err || fail "forkProcess: exit $got, $(cat err)"

# Outputs that cannot be written.
refused 1 'cannot write standard output: No space left' bash -c '"$HECATON" spread -n 2 ./main many >/dev/full'
ends 0 '' '' bash -c '"$HECATON" spread -n 2 ./main where >&-'
none_left 'outputs that cannot be written'

# Refusals, in one line.
refused 2 '1\.\.=1000' "${spread[@]}" -n 0 ./main where
refused 2 'one machine has: 128' "${spread[@]}" -n 129 ./main where
refused 2 'invalid digit' "${spread[@]}" -n many ./main where
refused 2 '-n <N> is missing' "${spread[@]}" ./main where
refused 2 'PROGRAM' "${spread[@]}" -n 2
refused 1 'there is no' "${spread[@]}" -n 2 ./nothing
refused 1 'not a Haskell program' "${spread[@]}" -n 2 ls
printf '#!/bin/sh\n./main\n' >script && chmod +x script
refused 1 'script' "${spread[@]}" -n 2 ./script
hello hello
ghc -v0 -outputdir ostock -o stock hello/Main.hs
refused 1 "GHC's own runtime" "${spread[@]}" -n 2 ./stock
"$HECATON" ghc -v0 -dynamic -threaded -outputdir odynamic -o dynamic hello/Main.hs
refused 1 '-dynamic.*static' "${spread[@]}" -n 2 ./dynamic
"$HECATON" ghc -v0 -outputdir oplain -o plain hello/Main.hs
ends 1 '' 'plain: PE 0 is linked without -threaded, which several PEs need\n' "${spread[@]}" -n 3 ./plain
if (ulimit -v 100000000) 2>/dev/null; then
    got=0
    (ulimit -v 100000000 && exec "${spread[@]}" -n 2 ./main where) >out 2>err || got=$?
    [ "$got" = 1 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'PE 0 cannot reserve' err ||
        fail "limited address space: exit $got, $(cat err)"
fi
ends 1 '' "hecaton: HECATON_SPREAD is set; it is for \`hecaton spread' alone\n" env HECATON_SPREAD=1/2:9 ./main where

# Another build among the PEs.
gcc -O -Wall -o spread_two "$tests/commands/spread_two.c"
ends 0 '0 of 2\n' '' ./spread_two ./main ./main where
sed 's/"caught "/"found "/' Main.hs >Other.hs
"$HECATON" ghc -v0 -O -threaded -rtsopts -package unix -outputdir oother -o other_main Other.hs
got=0
./spread_two ./main ./other_main where >out 2>err || got=$?
[ "$got" = 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] &&
    grep -q '^main: PE 1 has build id [0-9a-f]*, but PE 0 has [0-9a-f]*$' err || fail "another build: exit $got, $(cat err)"
got=0
./spread_two ./main /bin/true where >out 2>err || got=$?
[ "$got" = 1 ] && grep -q '^main: PE 1 has ended before it was ready$' err || fail "no PE: exit $got, $(cat err)"
none_left refusals

# begin N WORD… : a run that has begun; `command` is its process, and `pes` are its PEs in order.
begin() {
    local n=$1
    shift
    # Background commands of a script ignore SIGINT, and would hand that on.
    : >out && : >err
    env --default-signal=INT,QUIT "${spread[@]}" -n "$n" ./main "$@" >out 2>err </dev/null &
    command=$!
    until grep -q ready out; do sleep 0.02; done
    pes=($(pgrep -P "$command" | sort -n))
    [ ${#pes[@]} = "$n" ] || fail "$n PEs are ${#pes[@]} processes"
}
# over CODE : the run ends so.
over() {
    local got=0
    wait "$command" || got=$?
    [ "$got" = "$1" ] || fail "$2: exit $got instead of $1: $(cat out err)"
    none_left "$2"
}

# A lost PE.
begin 4 wait
kill -KILL "${pes[2]}"
over 1 'PE 2 was killed'
says 'hecaton: PE 2 is lost: killed by SIGKILL' cat err
# PE 0 and the command.
begin 3 wait
kill -KILL "${pes[0]}"
over 137 'PE 0 was killed'
begin 3 wait
kill -KILL "$command"
over 137 'the command was killed'
begin 3 wait
kill -TERM "$command"
over 143 'SIGTERM'
[ ! -s err ] || fail "SIGTERM: $(cat err)"
# Signals of one process are for PE 0; those of a terminal are for the group, of which only PE 0 takes them.
begin 3 interrupted
kill -INT "$command"
over 7 'SIGINT'
grep -q 'caught user interrupt' out || fail "SIGINT: $(cat out)"
begin 3 interrupted
kill -INT "${pes[@]}"
over 7 'SIGINT to all PEs'
[ ! -s err ] || fail "SIGINT to all PEs: $(cat err)"
begin 2 wait
kill -INT "$command"
over 130 'SIGINT that is not handled'
got=0
"${spread[@]}" -n 2 ./main raise >out 2>err || got=$?
[ "$got" = 139 ] || fail "a program that crashes: exit $got"

# One that does not say what it has counted is not waited for.
begin 3 interrupted +RTS -s
kill -STOP "${pes[1]}"
kill -INT "$command"
over 7 'SIGINT with a stopped PE'
[ "$(grep -c '^ *1 *no answer$' err)" = 2 ] && grep -q '^ *2 .*s .*[0-9]$' err || fail "a stopped PE: $(cat err)"

# Idle PEs use next to no time, although they ask each other for work: 2 % of a core at most.
begin 2 wait
sleep 1
used() {
    local user system
    read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ <"/proc/$1/stat"
    echo $((user + system))
}
before=($(used "${pes[0]}") $(used "${pes[1]}"))
sleep 2
for pe in 0 1; do
    ticks=$(($(used "${pes[pe]}") - before[pe]))
    [ "$ticks" -le 4 ] || fail "idle PE $pe used $ticks ticks in two seconds"
done
kill -TERM "$command"
over 143 'an idle run'
# Nothing is left in the folder either.
[ -z "$(find . /dev/shm -maxdepth 1 -newer lines \( -name '*.eventlog' -o -name '*hecaton*' -o -name '*spread*.[0-9]*' \))" ] ||
    fail 'files are left'
