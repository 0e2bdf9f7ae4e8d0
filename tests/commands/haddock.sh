# The installed haddock, running on Hecaton, writes the same pages and says the same as on the stock runtime.
. "${BASH_SOURCE[0]%/*}/common.bash"
sources=$(cd "${BASH_SOURCE[0]%/*}/ghc_interprets" && pwd)

for runtime in stock ours; do
    on=()
    [ $runtime = stock ] || on=("$HECATON" run)
    mkdir $runtime
    (cd $runtime && "${on[@]}" haddock -h --hyperlinked-source "$sources/Quote.hs" >said 2>warned)
done
[ -s ours/Quote.html ] || fail "no page: $(cat ours/warned)"
diff -r stock ours
