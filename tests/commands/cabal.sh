# `bin/ghc` serves as the compiler of a cabal project with a library and a program.
. "${BASH_SOURCE[0]%/*}/common.bash"
command -v cabal >/dev/null || { echo "cabal is not installed"; exit 77; }
root=$(dirname "$HECATON")

mkdir -p package/src package/app
cat >package/package.cabal <<'CABAL'
cabal-version: 2.4
name: package
version: 0.1

library
  hs-source-dirs: src
  exposed-modules: Greeting
  build-depends: base, containers
  default-language: Haskell2010

executable greet
  hs-source-dirs: app
  main-is: Main.hs
  build-depends: base, package
  ghc-options: -threaded
  default-language: Haskell2010
CABAL
printf 'module Greeting where\nimport qualified Data.Map as M\ngreeting :: String\ngreeting = M.fromList [(1 :: Int, "hello")] M.! 1\n' >package/src/Greeting.hs
printf 'import Greeting\nmain :: IO ()\nmain = putStrLn greeting\n' >package/app/Main.hs
cd package
export HOME=$PWD/home CABAL_DIR=$PWD/cabal
mkdir -p "$HOME" "$CABAL_DIR"
cat >"$CABAL_DIR/config" <<'CONFIG'
-- No repositories: everything this needs comes with GHC.
CONFIG
for kind in disable enable; do
    cabal build -v0 --offline -w "$root/bin/ghc" --$kind-executable-dynamic --builddir="dist-$kind" all
    program=$(find "$PWD/dist-$kind" -name greet -type f -perm -u+x)
    says hello "$program"
done
nm "$(find "$PWD/dist-disable" -name greet -type f -perm -u+x)" | grep -q __hecaton_build || fail "not linked with Hecaton"
ldd "$(find "$PWD/dist-enable" -name greet -type f -perm -u+x)" | grep -q 'build/lib/libHSrts\|'"${HECATON_LIB_DIR:-build/lib}" || fail "does not load Hecaton"

# What cannot be linked with Hecaton is said, once, and cabal goes on.
built() { find "$PWD/$1" -name greet -type f -perm -u+x; }
# said TEXT FOLDER FLAGS…
said() {
    local text=$1 folder=$2
    shift 2
    cabal build --offline -w "$root/bin/ghc" --builddir="$folder" "$@" all >out 2>err || fail "cabal build $*: $(cat out err)"
    [ "$(cat out err | grep -c "^hecaton: .*$text")" = 1 ] || fail "cabal build $*: said $(cat out err)"
    says hello "$(built "$folder")"
}
said 'no report' dist-ticky --ghc-options=-ticky
if [ -f "$(ghc --print-libdir)/rts/libHSrts_thr_p.a" ]; then
    said "GHC's own runtime" dist-profiling --enable-profiling
fi
