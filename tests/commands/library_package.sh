# The package hecaton is visible to `hecaton ghc`, static and dynamic, threaded and not, to cabal and to Setup.
. "${BASH_SOURCE[0]%/*}/common.bash"
root=$(dirname "$HECATON")

cat >Main.hs <<'HS'
import Hecaton.Event
main :: IO ()
main = print (evtRead <> evtWrite)
HS
for flags in '' -dynamic -threaded '-threaded -dynamic' '-no-user-package-db -hide-all-packages -package base -package hecaton' \
    '-clear-package-db -global-package-db'; do
    rm -f Main Main.o Main.hi
    # shellcheck disable=SC2086
    "$HECATON" ghc -v0 -O $flags Main.hs
    says '[evtRead,evtWrite]' ./Main
done
[ "$("$root/bin/ghc-pkg" field hecaton name)" = 'name: hecaton' ] || fail "bin/ghc-pkg does not know hecaton"
"$root/bin/ghc-pkg" dump --global | grep -q '^name: *hecaton' || fail "hecaton is not among the global packages"
"$root/bin/ghc-pkg" dump --global | grep -q '^name: *base$' || fail "base is not among the global packages"

cat >package.cabal <<'CABAL'
cabal-version: 2.4
name: package
version: 0.1

executable events
  main-is: Main.hs
  build-depends: base, hecaton
  ghc-options: -threaded
  default-language: Haskell2010
CABAL
printf 'import Distribution.Simple\nmain = defaultMain\n' >Setup.hs
ghc -v0 Setup.hs
for kind in disable enable; do
    ./Setup configure -v0 -w "$root/bin/ghc" --$kind-executable-dynamic --builddir=setup-$kind
    ./Setup build -v0 --builddir=setup-$kind
    says '[evtRead,evtWrite]' setup-$kind/build/events/events
done

# Building an unchanged library does nothing.
before=$(ls -lR --time-style=full-iso "$root/build/library")
says '' "$HECATON" build
[ "$before" = "$(ls -lR --time-style=full-iso "$root/build/library")" ] || fail "the library was built again"

command -v cabal >/dev/null || { echo "cabal is not installed"; exit 77; }
export HOME=$PWD/home CABAL_DIR=$PWD/cabal
mkdir -p "$HOME" "$CABAL_DIR"
echo '-- No repositories: everything this needs is installed.' >"$CABAL_DIR/config"
for kind in disable enable; do
    cabal build -v0 --offline -w "$root/bin/ghc" --$kind-executable-dynamic --builddir="dist-$kind" all
    says '[evtRead,evtWrite]' "$(find "$PWD/dist-$kind" -name events -type f -perm -u+x)"
done
