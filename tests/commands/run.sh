# `hecaton run` starts what can run on Hecaton, and says of anything else why not.
. "${BASH_SOURCE[0]%/*}/common.bash"

says 9.0.2 "$HECATON" run ghc --numeric-version
hello project
(cd project && "$HECATON" run ghc -v0 --make -O Main.hs && says hello ./Main)
ghc -v0 -dynamic -outputdir . -o dynamic project/Main.hs
says hello "$HECATON" run ./dynamic

# What follows the program is its own, whatever it looks like.
echo 'import System.Environment; main = getArgs >>= print' >Args.hs
ghc -v0 -dynamic -outputdir . -o args Args.hs
says '["-h","--help","--blackholes","--","x"]' "$HECATON" run ./args -h --help --blackholes -- x

refused 2 'PROGRAM.* is missing' "$HECATON" run
refused 1 'no program' "$HECATON" run no-such-program
refused 1 'there is no' "$HECATON" run ./nothing
refused 1 'folder' "$HECATON" run ./project
refused 1 'not executable' "$HECATON" run ./project/Main.hs
refused 1 'not a Haskell program' "$HECATON" run ls
refused 1 'statically.*hecaton ghc' "$HECATON" run project/Main
# Installed programs have no symbols any more.
"$HECATON" ghc -v0 -outputdir . -o stripped project/Main.hs
ghc -v0 -outputdir stock -o plain project/Main.hs && strip plain stripped
refused 1 'statically.*hecaton ghc.*cabal build -w' "$HECATON" run ./plain
says hello "$HECATON" run ./stripped
if cabal=$(command -v cabal); then
    refused 1 'statically' "$HECATON" run "$cabal"
fi
# What the system says, without its number.
if [ "$(id -u)" != 0 ]; then
    cp dynamic secret && chmod 111 secret
    refused 1 'cannot open.*Permission denied$' "$HECATON" run ./secret
fi
printf '#!/no/such/shell\n' >script && chmod +x script
refused 1 'first line' "$HECATON" run ./script
echo junk >junk && chmod +x junk
refused 1 'not a program' "$HECATON" run ./junk
head -c 3000 dynamic >cut && chmod +x cut
refused 1 'damaged' "$HECATON" run ./cut
sed 's/-ghc9\.0\.2\.so/-ghc9.0.1.so/g' dynamic >older && chmod +x older
refused 1 '9.0.1' "$HECATON" run ./older
"$HECATON" ghc -v0 -outputdir . -o ours project/Main.hs
says hello "$HECATON" run ./ours
