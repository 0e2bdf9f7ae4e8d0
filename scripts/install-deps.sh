#!/bin/bash
# Installs the Debian packages that are missing, and says nothing when none is.
#   install-deps.sh base    what building the runtime and its programs takes
#   install-deps.sh bench   also the libraries that the benchmarks use
#   install-deps.sh test    also those and the tools that the tests use
set -eu

base=(ghc gcc binutils libc6-dev libffi-dev libgmp-dev)
tools=(diffutils cabal-install wrk curl)
measured=(libghc-monad-par-dev libghc-parallel-dev)
libraries=(
    libghc-aeson-dev libghc-async-dev libghc-attoparsec-dev libghc-hspec-dev libghc-http-types-dev libghc-lens-dev libghc-network-dev
    libghc-pandoc-dev libghc-quickcheck2-dev libghc-random-dev libghc-unordered-containers-dev libghc-vector-dev libghc-wai-dev
    libghc-warp-dev
)
case ${1-} in
    base) wanted=("${base[@]}") ;;
    bench) wanted=("${base[@]}" "${measured[@]}") ;;
    test) wanted=("${base[@]}" "${measured[@]}" "${tools[@]}" "${libraries[@]}") ;;
    *)
        echo "hecaton: install-deps.sh takes base, bench or test" >&2
        exit 2
        ;;
esac

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "hecaton: these Debian packages are missing, and installing them takes root: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo)
fi
echo "Installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}
if ! { apt_get install -y --no-install-recommends "${missing[@]}" || { apt_get update && apt_get install -y --no-install-recommends "${missing[@]}"; }; }; then
    tail -n 20 "$log" >&2
    echo "hecaton: installing Debian packages failed" >&2
    exit 1
fi
