# `hecaton spread --hosts`: one program over several hosts, which here are this machine by several names. Output,
# input, exit codes, signals, refusals; the death of what reaches a host, of PEs and of the command; and nothing is left
# behind.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"

cat >Main.hs <<'HS'
import Control.Concurrent
import Control.Exception
import Control.Monad
import Hecaton.Cluster
import System.Directory
import System.Environment
import System.Exit
import System.IO
import System.Posix.Signals

main :: IO ()
main = do
  args <- getArgs
  n <- numPEs
  let everywhere action = forM [0 .. n - 1] (\pe -> remoteOn (PE pe) action >>= await)
  case args of
    ["where"] -> do
      places <- everywhere ((\(PE pe) -> pe) <$> myPE)
      putStrLn (show places ++ " of " ++ show n)
    ["folders"] -> everywhere getCurrentDirectory >>= mapM_ putStrLn
    ["environment"] -> everywhere (filter here <$> getEnvironment) >>= mapM_ print
    ["exit", code] -> exitWith (ExitFailure (read code))
    ["arguments", a, b] -> print (a, b)
    ["copy"] -> getContents >>= putStr
    ["both"] -> putStrLn "out" >> hPutStrLn stderr "err" >> putStr "no end"
    -- Lines in pieces, from all at once.
    ["lines"] -> do
      futures <- forM [0 .. n - 1] (\pe -> remoteOn (PE pe) speak)
      mapM_ await futures
    ["raise"] -> raiseSignal sigSEGV
    ["many"] -> forM_ [1 .. 20000 :: Int] print
    ["interrupted"] -> (putStrLn "ready" >> hFlush stdout >> threadDelay 60000000) `catch` \e ->
      putStrLn ("caught " ++ show (e :: AsyncException)) >> exitWith (ExitFailure 7)
    -- Lists that are made elsewhere, and fetched.
    ["large"] -> do
      lists <- everywhere (do { PE pe <- myPE; let { xs = [pe .. pe + 100000] }; xs <$ evaluate (length xs) })
      print (map sum lists)
    _ -> putStrLn "ready" >> hFlush stdout >> threadDelay 60000000
  where
    here (name, _) = name `elem` ["HECATON_SPREAD", "HECATON_RSH", "HECATON_OF_TEST", "OF_TEST"]
    speak = forM_ [1 .. 100 :: Int] $ \_ -> putStr "begin " >> hFlush stdout >> yield >> putStr "end\n" >> hFlush stdout
HS
"$HECATON" ghc -v0 -O -threaded -rtsopts -package unix -package directory -package hecaton -outputdir o -o main Main.hs

# What reaches "a host": it runs the command here, as ssh would have a shell do there.
cat >rsh <<'RSH'
#!/bin/sh
[ "$1" != unreachable ] || { echo "no route to $1" >&2; exit 255; }
[ "$1" != silent ] || exit 3
[ "$1" != talks ] || echo "welcome to $1"
cd /
case $1 in
    # One with another program by the same path.
    127.0.0.1) exec unshare -rm sh -c "mount --bind '$FOLDER/other_main' '$FOLDER/main' && $2" ;;
    # One that waits for the command, and does not become it.
    waits) sh -c "$2"; exit $? ;;
    *) exec env -i PATH="$PATH" HOME="$HOME" sh -c "$2" ;;
esac
RSH
chmod +x rsh
export HECATON_RSH=$PWD/rsh FOLDER=$PWD
name=$(hostname)
getent ahostsv4 "$name" >/dev/null || { echo "this machine's own name has no address"; exit 77; }
both=localhost:2,$name:2
spread=("$HECATON" spread --hosts)

# ends CODE OUT ERR COMMAND… : the exit code, and the whole outputs.
ends() {
    local code=$1 out=$2 err=$3 got=0
    shift 3
    timeout 120 "$@" >out 2>err </dev/null || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got instead of $code: $(cat err)"
    diff out <(printf "$out") || fail "$*: standard output"
    diff err <(printf "$err") || fail "$*: standard error"
}
# Processes of the program that run, and agents.
running() {
    local found=0 pid
    for pid in /proc/[0-9]*; do
        case $(readlink "$pid/exe") in
            "$PWD"/*) found=$((found + 1)) ;;
            */hecaton) ! tr '\0' ' ' <"$pid/cmdline" 2>/dev/null | grep -q "spread-host" || found=$((found + 1)) ;;
        esac
    done
    echo $found
}
none_left() {
    for _ in $(seq 150); do
        [ "$(running)" != 0 ] || return 0
        sleep 0.02
    done
    fail "$(running) processes are left after $1"
}

ends 0 '[0] of 1\n' '' "${spread[@]}" localhost ./main where
ends 0 '[0,1] of 2\n' '' "${spread[@]}" "localhost,$name" ./main where
ends 0 '[0,1,2] of 3\n' '' "${spread[@]}" localhost:1,localhost:2 ./main where
ends 0 '[0,1,2,3] of 4\n' '' "${spread[@]}" "$both" ./main where
ends 0 '[0,1,2,3,4,5,6,7] of 8\n' '' "${spread[@]}" "localhost:3,$name:1,localhost:4" ./main where
ends 0 '[0,1,2] of 3\n' '' "${spread[@]}" "$both" -n 3 ./main where
ends 0 '[0] of 1\n' '' "${spread[@]}" "$both" -n 1 ./main where
ends 3 '' '' "${spread[@]}" "$both" ./main exit 3
ends 0 'out\nno end' 'err\n' "${spread[@]}" "$both" ./main both
ends 139 '' '' "${spread[@]}" "$both" ./main raise
ends 0 '[5000050000,5000150001,5000250002,5000350003]\n' '' "${spread[@]}" "$both" ./main large
# Arguments of any kind; the folder; and HECATON_… of the environment, but not what is for hecaton itself.
ends 0 '("","a b\\\\n$(x)'"'"'\\"")\n' '' "${spread[@]}" "$both" ./main arguments '' 'a b\n$(x)'"'"'"'
mkdir -p 'a folder' gone
(cd 'a folder' && ends 0 "$(for _ in 1 2 3 4; do printf '%s\\n' "$PWD"; done)" '' "${spread[@]}" "$both" ../main folders)
got=$(cd gone && rmdir ../gone && "${spread[@]}" "localhost,$name" "$FOLDER/main" folders 2>"$FOLDER/err" | tr '\n' ,)
[ "$got" = /,/, ] || fail "a folder that does not exist: $got $(cat err)"
OF_TEST=no HECATON_OF_TEST='y e s' ends 0 "$(printf '[("HECATON_OF_TEST","y e s")]\\n%.0s' 1 2)" '' "${spread[@]}" \
    "localhost,$name" ./main environment
none_left 'runs that end'
"${spread[@]}" "$both" ./main lines >out 2>err
[ "$(sort out | uniq -c | tr -s ' ')" = ' 400 begin end' ] || fail "lines of all: $(sort -u out)"
seq 30000 >lines
"${spread[@]}" "$both" ./main copy <lines | cmp lines || fail 'standard input'
[ "$(yes | "${spread[@]}" "$both" ./main exit 5 || echo $?)" = 5 ] || fail 'input that nobody reads'
[ "$("${spread[@]}" "$both" ./main many | sum)" = "$(seq 20000 | sum)" ] || fail 'many lines'
[ "$("${spread[@]}" "$both" ./main many | head -n 1)" = 1 ] || fail 'a reader that ends'
none_left 'a reader that has ended'
"${spread[@]}" "$both" ./main where +RTS -sreport
[ "$(grep -c '^ *[0123] .*s .*[0-9]$' report)" = 4 ] || fail "counts: $(cat report)"

# Values and work.
make_values
gives_values 2 timeout 200 "${spread[@]}" "localhost,$name" ./values
make_work
for hosts in "localhost,$name" "$both"; do
    gives_work timeout 300 "${spread[@]}" "$hosts" ./work 15 27 +RTS -s
    lent=$(awk '$1 == "sum" { print $8; exit }' err)
    [ "${lent:-0}" -ge 1 ] || fail "lent: $(tail -8 err)"
done
HECATON_CHECK=heap gives_work timeout 300 "${spread[@]}" "localhost,$name" ./work 15 27 +RTS -N2 -A64k
none_left 'values and work'

# Refusals, in one line.
refused 2 'not the name of a host' "${spread[@]}" '' ./main where
refused 2 'not the name of a host' "$HECATON" spread --hosts=-oProxyCommand=true ./main where
refused 2 '1 to 128' "${spread[@]}" localhost:0 ./main where
refused 2 '1 to 128' "${spread[@]}" localhost:129 ./main where
refused 2 '-n 5 is more than --hosts has room for: 4' "${spread[@]}" "$both" -n 5 ./main where
refused 2 'too many: a run has 1000' "${spread[@]}" a:128,b:128,c:128,d:128,e:128,f:128,g:128,h:128 ./main where
refused 2 'is more than one machine has: 128' "$HECATON" spread -n 129 ./main where
refused 2 'PROGRAM' "${spread[@]}" "$both"
refused 1 'there is no' "${spread[@]}" "$both" ./nothing
HECATON_RSH="'" refused 1 'HECATON_RSH is not a command' "${spread[@]}" "$both" ./main where
HECATON_RSH=/nothing refused 1 'cannot run /nothing' "${spread[@]}" "$both" ./main where
refused 1 'host localhost: cannot find the address of host nowhere.invalid' "${spread[@]}" \
    localhost,nowhere.invalid ./main where
ends 1 '' 'no route to unreachable\nhecaton: host unreachable is lost: exit 255\n' "${spread[@]}" \
    localhost,unreachable ./main where
refused 1 'host silent is lost: exit 3' "${spread[@]}" silent,localhost ./main where
hello hello
"$HECATON" ghc -v0 -outputdir oplain -o plain hello/Main.hs
ends 1 '' 'plain: PE 0 is linked without -threaded, which several PEs need\n' "${spread[@]}" "$both" ./plain
none_left refusals
# Another build on one of the hosts.
if unshare -rm true 2>/dev/null; then
    sed 's/"caught "/"found "/' Main.hs >Other.hs
    "$HECATON" ghc -v0 -O -threaded -rtsopts -package unix -package directory -package hecaton -outputdir oother \
        -o other_main Other.hs
    got=0
    "${spread[@]}" localhost,127.0.0.1 ./main where >out 2>err || got=$?
    [ "$got" = 1 ] && [ ! -s out ] && [ "$(wc -l <err)" = 1 ] &&
        grep -q '^main: PE 1 has build id [0-9a-f]*, but PE 0 has [0-9a-f]*$' err || fail "another build: $got, $(cat err)"
    none_left 'another build'
fi

# begin HOSTS WORD… : a run that has begun; `command` is its process, `agents` are those of the hosts in order, and
# `pes` are the PEs of the second one.
begin() {
    local hosts=$1
    shift
    : >out && : >err
    env --default-signal=INT,QUIT "${spread[@]}" "$hosts" ./main "$@" >out 2>err </dev/null &
    command=$!
    until grep -q ready out; do sleep 0.02; done
    agents=($(pgrep -P "$command" | sort -n))
    [ ${#agents[@]} = 2 ] || fail "2 hosts are ${#agents[@]} processes"
    pes=($(pgrep -P "${agents[1]}" | sort -n))
}
# over CODE WHAT : the run ends so.
over() {
    local got=0
    wait "$command" || got=$?
    [ "$got" = "$1" ] || fail "$2: exit $got instead of $1: $(cat out err)"
    none_left "$2"
}
begin "$both" wait
kill -KILL "${pes[1]}"
over 1 'PE 3 was killed'
says "hecaton: host $name: PE 3 is lost: killed by SIGKILL" cat err
begin "$both" wait
kill -KILL "$(pgrep -P "${agents[0]}" | sort -n | head -n 1)"
over 137 'PE 0 was killed'
begin "$both" wait
kill -KILL "$(pgrep -P "${agents[0]}" | sort -n | tail -n 1)"
over 1 'PE 1 was killed'
says 'hecaton: host localhost: PE 1 is lost: killed by SIGKILL' cat err
begin "$both" wait
kill -KILL "${agents[1]}"
over 1 'the second command was killed'
says "hecaton: host $name is lost: killed by SIGKILL" cat err
begin "$both" wait
kill -KILL "${agents[0]}"
over 137 'the first command was killed'
begin "localhost:2,$name:2" wait
kill -KILL "$command"
over 137 'the launcher was killed'
begin "$both" wait
kill -TERM "$command"
over 143 'SIGTERM'
[ ! -s err ] || fail "SIGTERM: $(cat err)"
begin "$both" interrupted
kill -INT "$command"
over 7 'SIGINT'
grep -q 'caught user interrupt' out || fail "SIGINT: $(cat out)"
begin "$both" wait
kill -INT "$command"
over 130 'SIGINT that is not handled'
