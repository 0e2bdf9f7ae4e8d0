# Options for the runtime: what the stock runtime takes is taken, what it refuses is refused, with the same words and
# exit code, in every way.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
import System.Mem
main :: IO ()
main = do
  print (sum [1 .. 20000 :: Integer])
  performGC
  putStrLn "done"
HS
cat >options <<'LIST'
-A -A0 -A8191 -A8k -A1.5m -Ax -A-1 -AL -AL4k -AL1m -n -n4k -n16k -O -O4k -O1m -Ox
-G -G0 -G1 -G3 -G13 -G20 -G64 -Gx -G-1 -G1.5 -F -F0 -F0.5 -F-1 -Fx
-c -c30 -cx -c101 -w -wx -G1_-c -c_-w -c_-xn -w_-xn -m -m0 -m100 -m101 -m-1 -mx
-M64m -M-1 -Mx -Mgrace=0 -Mgrace=4k -Mgrace=x -H -H1m -H4k -Hx -xq -xq1m -xqx
-K -K8 -K16t -K800 -K1m -K4294967296 -Kx -k -k1k -ki -ki1k -kc -kc32k -kb -kb1k -kb17k -kc2k_-kb2k -kx1k
-I -I0 -I0.1 -Iw -Iw1 -Ix -Bx -Z -Zx -T -Tx -t/no/file -s/no/file -S/no/file
-C -C0 -C0.01 -Cx -C1x -V -V0 -V0.01 -Vx -i -i0 -i0.1 -ix
-x -xn -xnfoo -xb -xb0 -xb0x10000 -xb0x4200000000 -xp -xm -xm1000 -xm80000001 -xmz -xc -xt -xz -xr
-N -N0 -N1 -N2 -N-1 -Nx -N2x -maxN -maxN0 -maxN2 -maxNx -max
-q -qg -qg0 -qg1 -qb -qb0 -qb5 -qn -qn0 -qn2 -qi -qi1 -qa -qm -qw -q1 -qz -qg1_-G3
-e -e0 -e10 -ex -g -g1 -g2 -o -ox -ol
-v-a -D -Dx -DSx -DS -l-a -olout.eventlog_-l-a -P -Px -p -px -R -R1 -L -L10 -hc -hx -hm
--infox --copying-gc --copying-gcx --nonmoving-gc --internal-counters --internal-countersx --machine-readable --machine-readablex
--numa --numa= --numa=3 --numa=x --numa=0 --numa-mask=3 --numax
--debug-numa --debug-numa= --debug-numa=1 --debug-numa=2 --debug-numa=2x --debug-numa=16 --debug-numa=17 --debug-numa=x --debug-numa=-1 --debug-numax
--long-gc-sync --long-gc-sync= --long-gc-sync=1 --long-gc-sync=x
--install-signal-handlers --install-signal-handlers=yes --install-signal-handlers=no --install-signal-handlers=x
--install-seh-handlers=yes --install-seh-handlers=x --generate-stack-traces=no --generate-stack-traces=x --generate-crash-dumps
--io-manager --io-manager=native --io-manager=posix --io-manager=x --disable-delayed-os-memory-return --disable-delayed-os-memory-returnx
-- - foo --x -?x -u -y -a -b -d -f -j -E -J -Q -U -W -X -Y -1
LIST

# answer FOLDER OPTIONS… : exit code and all that the program says, without the usage that follows a wrong option.
answer() {
    local code=0
    "$1/main" +RTS "${@:2}" >"$1/out" 2>"$1/err" </dev/null || code=$?
    echo "exit $code"
    # How large a stack is when it overflows is each runtime's own.
    sed -e '/^main: Usage:/,$d' -e 's/current size [0-9]* bytes/current size N bytes/' -e 's/\x0/@/g' -e '/^main: $/d' "$1/out" "$1/err"
}

compared=0
# compare FLAGS POLICY OPTIONS…
compare() {
    local flags=$1 policy=$2 option words
    shift 2
    rm -rf stock ours
    mkdir stock ours
    ghc -v0 $flags -rtsopts=$policy -outputdir stock/objects -o stock/main Main.hs
    "$HECATON" ghc -v0 $flags -rtsopts=$policy -outputdir ours/objects -o ours/main Main.hs
    for option; do
        IFS=_ read -ra words <<<"$option"
        answer stock "${words[@]}" >stock.said
        answer ours "${words[@]}" >ours.said
        cmp -s stock.said ours.said || fail "ghc $flags -rtsopts=$policy, +RTS ${words[*]}: $(diff stock.said ours.said)"
        compared=$((compared + 1))
    done
}
compare '' all $(<options)
compare -threaded all $(<options)
compare -threaded some $(<options)
compare '-threaded -debug' all $(tr ' ' '\n' <options | grep -e '^-[vDlo]' -e '^--debug' -e '^--numa')
[ $compared -gt 750 ] || fail "compared only $compared"

# `-s` has a line for every generation that was asked for, the oldest with the full collections.
rm -rf stock ours
mkdir stock ours
ghc -v0 -rtsopts -outputdir stock/objects -o stock/main Main.hs
"$HECATON" ghc -v0 -rtsopts -outputdir ours/objects -o ours/main Main.hs
for runtime in stock ours; do
    $runtime/main +RTS -G20 -s 2>&1 >$runtime.out | sed -n 's/^  Gen *\([0-9]*\) .*/\1/p' >$runtime.generations
done
diff stock.generations ours.generations
[ "$(tail -n 1 ours.generations)" = 19 ] || fail "-G20 -s: $(cat ours.generations)"
ours/main +RTS -G1000 -s 2>&1 | grep -q '^  Gen 999  *[1-9]' || fail "-G1000: no full collection of generation 999"

# The text of -? names the document of what differs, and that is there.
ours/main +RTS -? 2>usage || true
grep -q 'docs/limitations.md' usage || fail "-? names no document"
[ -s "$(dirname "$HECATON")/docs/limitations.md" ] || fail "no docs/limitations.md"
