# The upcalls that a program makes are counted by their causes, and each cause is met by a program that has them all.
. "${BASH_SOURCE[0]%/*}/common.bash"
programs=$(dirname "$HECATON")/tests/conformance/schedulers

"$HECATON" ghc -v0 -O -threaded -rtsopts -i"$programs" -outputdir objects -o upcalls "$programs/schedulers_upcalls.hs"
./upcalls +RTS -s 2>said >out
! grep expected out || fail "the program has failed"
enqueues='MVar STM thunk call delay descriptor exception fork'
dequeues='block tick stale end'
kinds() {
    local kind pattern=''
    for kind in "$@"; do
        pattern+=", [1-9][0-9]* $kind"
    done
    echo "[0-9]* (${pattern#, })"
}
grep -q "^  UPCALLS: $(kinds $enqueues) enqueue, $(kinds $dequeues) dequeue$" said || fail "-s said $(cat said)"
! grep -q ACTIVATIONS said || fail "-s measured activations"
./upcalls +RTS -s --internal-counters 2>said >out
grep -q '^  ACTIVATIONS: [0-9]*[.][0-9]*[1-9][0-9]*s in switches and upcalls$' said || fail "-s said $(cat said)"

hello none
"$HECATON" ghc -v0 -rtsopts -outputdir objects-none -o hello none/Main.hs
./hello +RTS -s 2>said >out
! grep -q UPCALLS said || fail "without a scheduler, -s said $(cat said)"
