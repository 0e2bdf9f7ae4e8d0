# Random programs of the model of the substrate, printed as Haskell, type-check against the names of Hecaton.Substrate.
. "${BASH_SOURCE[0]%/*}/common.bash"
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
[ -n "$(ghc-pkg list --global --simple-output QuickCheck)" ] || { echo "the package QuickCheck is not installed"; exit 77; }

"$HECATON" ghc -v0 -O0 -i"$here/../conformance/library" -outputdir objects -o print "$here/substrate_model/PrintModels.hs"
./print >Models.hs
grep -c '^program.* :: IO ()$' Models.hs | grep -qx 60 || fail "not 60 programs"
ghc -v0 -fno-code -i"$here/substrate_model" Models.hs
# A program of another type is refused.
sed 's/^program1 = void \$/program1 = void $ not $/' Models.hs >Wrong.hs
! ghc -v0 -fno-code -i"$here/substrate_model" Wrong.hs 2>wrong || fail "a program of another type was accepted"
grep -q "Couldn't match" wrong || fail "refused for another reason: $(cat wrong)"
