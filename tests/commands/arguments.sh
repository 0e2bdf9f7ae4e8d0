# Wrong arguments get one line and exit code 2; every command explains itself.
. "${BASH_SOURCE[0]%/*}/common.bash"

refused 2 'which command' "$HECATON"
refused 2 'frobnicate.*build, ghc, run, spread, mpi-shim, test' "$HECATON" frobnicate
refused 2 'did you mean build' "$HECATON" biuld
refused 2 'did you mean --quick' "$HECATON" test --qiuck
refused 2 '1, 2, 4, 8' "$HECATON" test --hecs 3
refused 2 'evaluation, meetings, jobs' "$HECATON" study nosuch
refused 2 -- "$HECATON" build --frobnicate
refused 2 extra "$HECATON" build extra
refused 2 PROGRAM "$HECATON" run
refused 2 runs "$HECATON" bench --runs 0
refused 2 frobnicate "$HECATON" bench --frobnicate
refused 2 frobnicate "$HECATON" test --frobnicate
refused 2 extra "$HECATON" demo extra
refused 2 'no benchmark' "$HECATON" bench no-such-benchmark
refused 2 'no test' "$HECATON" test no-such-test
refused 2 'stm_bnk; did you mean stm_bank' "$HECATON" bench stm_bnk
refused 2 'argumnets; did you mean arguments' "$HECATON" test argumnets
# One that is right does not hide one that is wrong.
refused 2 'argumnets; did you mean arguments' "$HECATON" test arguments argumnets
refused 2 frobnicate "$HECATON" study frobnicate
refused 2 quick "$HECATON" study --quick --runs 2
for command in '' build ghc run spread mpi-shim demo test bench study; do
    "$HECATON" $command --help | grep -q Usage || fail "no help for $command"
done
says 9.0.2 "$HECATON" ghc --numeric-version
says "hecaton $(sed -n 's/^version = "\(.*\)"/\1/p' "${HECATON%/*}/Cargo.toml")" "$HECATON" --version
