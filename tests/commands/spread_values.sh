# Values between processing elements: remote IO with its results, exceptions and cancellation; data that is fetched when
# it is needed, evaluated or not; what stays, and how that is said.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"

make_values
run() {
    local n=$1
    shift
    gives_values "$n" timeout 300 "$HECATON" spread -n "$n" ./values "$@"
}

run 1
run 2
run 3 +RTS -N2
run 2 +RTS -A64k
HECATON_CHECK=heap run 2
