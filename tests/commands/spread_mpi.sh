# Programs over several processing elements that an MPI launcher has started: Open MPI and MPICH, whichever is there.
# Answers, output, exit codes, refusals; and programs that have nothing to do with it.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"

launchers=()
for kind in openmpi mpich; do
    command -v mpirun.$kind mpicc.$kind >/dev/null && launchers+=($kind)
done
[ ${#launchers[@]} -gt 0 ] || { echo 'no MPI is installed'; exit 77; }
make_values
make_work
# Only the shims of this test are found.
export HOME=$PWD/home OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset HECATON_MPI
cat >Main.hs <<'HS'
import Control.Exception
import Control.Monad
import Hecaton.Cluster
import System.Environment
import System.Exit
import System.IO
import System.Posix.Signals
import System.Process

main :: IO ()
main = do
  args <- getArgs
  PE pe <- myPE
  n <- numPEs
  case args of
    ["where"] -> putStrLn (show pe ++ " of " ++ show n)
    ["exit", code] -> exitWith (ExitFailure (read code))
    ["raise"] -> throwIO (userError "boom")
    ["copy"] -> getContents >>= putStr
    ["signal", which] -> remoteOn (PE (read which)) (raiseSignal sigKILL) >>= await
    -- A program that this one starts is no part of the run.
    ["child", program] -> callProcess program ["where"]
    -- Output of all, of which much is left when main ends with a code.
    ["all", code] -> do
      let lines pe = forM_ [1 .. 400 :: Int] $ \k -> putStrLn ("line " ++ show k ++ " of " ++ show pe)
      mapM (\to -> remoteOn (PE to) (lines to)) [0 .. n - 1] >>= mapM_ await
      when (code /= "0") $ exitWith (ExitFailure (read code))
    -- Lists that are made elsewhere, and fetched: messages of many packets.
    ["large"] -> do
      lists <- forM [0 .. n - 1] $ \to ->
        remoteOn (PE to) (let xs = [to .. to + 100000] in xs <$ evaluate (length xs)) >>= await
      print (map sum lists)
    _ -> hPutStrLn stderr "what?"
HS
link() {
    "$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package unix -package process -outputdir o "$@" Main.hs
}
link -o main
# The same with another build id.
link -optl-Wl,--defsym=another_program=1 -o other
cat >own.c <<'C'
#include <mpi.h>
int own_mpi(void)
{
    int is_started;
    MPI_Initialized(&is_started);
    return is_started;
}
C

# ends CODE OUT COMMAND… : the exit code, and the whole standard output. Launchers say things on standard error, too.
ends() {
    local code=$1 out=$2 got=0
    shift 2
    timeout 120 "$@" >out 2>err </dev/null || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got instead of $code: $(cat err)"
    diff out <(printf "$out") || fail "$*: standard output"
}
# says_once COUNT TEXT : what the last command has said of itself.
says_once() {
    [ "$(grep -c "^hecaton: .*$2" err)" = "$1" ] || fail "not $1 times '$2': $(cat err)"
}
# How often each byte comes.
bytes() {
    od -An -v -tx1 -w1 | sort | uniq -c
}
none_left() {
    for _ in $(seq 100); do
        ! pgrep -f "^$PWD/main" >/dev/null || { sleep 0.05; continue; }
        return 0
    done
    fail "PEs are left after $1"
}

for kind in "${launchers[@]}"; do
    run=(mpirun.$kind)
    [ $kind != openmpi ] || run+=(--oversubscribe)
    shim=libhecaton-mpi-$kind.so
    main=$PWD/main

    # Nothing of MPI is needed where there is only one process, or where it is not wanted.
    rm -rf home
    mkdir home
    ends 0 '0 of 1\n' "$main" where
    ends 0 '0 of 1\n' "${run[@]}" -n 1 "$main" where
    ends 0 '0 of 1\n0 of 1\n' env HECATON_MPI=off "${run[@]}" -n 2 "$main" where
    got=0
    timeout 60 "${run[@]}" -n 2 "$main" where >out 2>err || got=$?
    [ "$got" = 1 ] && [ ! -s out ] || fail "without a shim: exit $got, $(cat out err)"
    says_once 1 "cannot take part as process 0 of 2 in a run by MPI: there is no $shim.*hecaton mpi-shim.*HECATON_MPI=off"
    got=0
    HECATON_MPI=lam timeout 60 "${run[@]}" -n 2 "$main" where >out 2>err || got=$?
    [ "$got" = 1 ] && grep -q "HECATON_MPI is .lam'" err || fail "a wrong value: exit $got, $(cat err)"

    says "$HOME/.local/lib/hecaton/$shim" "$HECATON" mpi-shim --mpicc mpicc.$kind
    ends 0 '0 of 2\n' "${run[@]}" -n 2 "$main" where
    gives_values 2 timeout 120 "${run[@]}" -n 2 ./values
    ends 3 '' "${run[@]}" -n 4 "$main" exit 3
    ends 1 '' "${run[@]}" -n 4 "$main" raise
    grep -q 'main: user error (boom)' err || fail "an exception: $(cat err)"
    ends 0 '0 of 1\n' "${run[@]}" -n 4 "$main" child "$main"
    for code in 0 4; do
        got=0
        timeout 60 "${run[@]}" -n 4 "$main" all $code >out 2>err </dev/null || got=$?
        [ "$got" = $code ] || fail "output of all: exit $got: $(cat err)"
        # Launchers pass on output in pieces, which may end within a line.
        for pe in 0 1 2 3; do seq -f "line %.0f of $pe" 400; done | bytes | diff - <(bytes <out) || fail 'output of all'
    done
    gives_work timeout 120 "${run[@]}" -n 4 ./work 15 27
    ends 0 '[5000050000,5000150001,5000250002]\n' "${run[@]}" -n 3 "$main" large +RTS -N2
    gives_work timeout 120 "${run[@]}" -n 3 ./work 15 27 +RTS -N2 -A64k
    HECATON_CHECK=heap gives_work timeout 200 "${run[@]}" -n 2 ./work 15 27
    ends 0 '0 of 2\n' env HECATON_MPI=$HOME/.local/lib/hecaton/$shim "${run[@]}" -n 2 "$main" where
    seq 1000 >lines
    timeout 60 "${run[@]}" -n 3 "$main" copy <lines | cmp - lines || fail 'standard input'

    # All options of the runtime are answered by PE 0.
    got=0
    timeout 60 "${run[@]}" -n 3 "$main" where +RTS --nonsense >out 2>err || got=$?
    [ "$got" = 1 ] && [ "$(grep -c nonsense err)" = 1 ] || fail "a wrong option: exit $got, $(cat err)"

    # Refusals, by PE 0.
    ends 1 '' "${run[@]}" -n 1 "$main" where : -n 1 "$PWD/other" where
    [ "$(grep -c 'PE 1 has build id .*, but PE 0 has' err)" = 1 ] || fail "another build: $(cat err)"
    # A process that is killed ends all.
    for pe in 0 1; do
        got=0
        timeout 60 "${run[@]}" -n 3 "$main" signal $pe >out 2>err || got=$?
        [ "$got" != 0 ] && [ "$got" != 124 ] || fail "PE $pe is killed: exit $got: $(cat err)"
    done
    none_left 'runs by MPI'

    # A program that uses MPI itself is left alone.
    mpicc.$kind -c own.c -o own.o
    link -o own own.o $(mpicc.$kind -show -c own.c | grep -o -e '-L[^ ]*' || true) \
        $([ $kind = mpich ] && echo -lmpich || echo -L/usr/lib/x86_64-linux-gnu/openmpi/lib -lmpi) -optl-Wl,--no-as-needed
    ends 0 '0 of 1\n0 of 1\n' "${run[@]}" -n 2 ./own where
done

# A shim of another kind than the launcher.
if [ ${#launchers[@]} = 2 ]; then
    got=0
    HECATON_MPI=mpich timeout 60 mpirun.openmpi --oversubscribe -n 2 "$main" where >out 2>err || got=$?
    [ "$got" = 1 ] && [ ! -s out ] && says_once 1 'MPI has 1 processes, and the launcher 2' || fail "exit $got: $(cat out err)"
fi
# What the command says.
refused 1 'there is no nosuchcc' "$HECATON" mpi-shim --mpicc nosuchcc
refused 1 'mpi.h' "$HECATON" mpi-shim --mpicc gcc
