#!/bin/bash
# Installs the Debian packages that are missing, and says nothing when none is.
#   install-deps.sh base    what building the runtime and its programs takes
#   install-deps.sh bench   also the libraries that the benchmarks use
#   install-deps.sh events  what the benchmark of the event manager uses
#   install-deps.sh test    also those and the tools that the tests use
# What fails is said in one line; all that apt-get said stays in build/install.log.
set -eu
export LC_ALL=C
self=$(readlink -f -- "${BASH_SOURCE[0]}")
build=${self%/*/*}/build

base=(ghc gcc binutils libc6-dev libffi-dev libgmp-dev)
tools=(diffutils cabal-install curl)
mpi=(openmpi-bin libopenmpi-dev mpich libmpich-dev)
loaded=(wrk strace libghc-network-dev)
measured=(
    libghc-agda-dev libghc-async-dev libghc-hledger-lib-dev libghc-hlint-dev libghc-http-client-dev libghc-http-types-dev
    libghc-monad-par-dev libghc-ormolu-dev libghc-pandoc-dev libghc-parallel-dev libghc-wai-dev libghc-warp-dev
)
libraries=(
    libghc-aeson-dev libghc-attoparsec-dev libghc-ghc-events-dev libghc-hspec-dev libghc-lens-dev libghc-quickcheck2-dev
    libghc-random-dev libghc-unordered-containers-dev libghc-vector-dev
)

fail() {
    echo "hecaton: $*" >&2
    exit 1
}

case ${1-} in
    base) wanted=("${base[@]}") ;;
    bench) wanted=("${base[@]}" "${measured[@]}") ;;
    events) wanted=("${base[@]}" "${loaded[@]}") ;;
    test) wanted=("${base[@]}" "${measured[@]}" "${loaded[@]}" "${tools[@]}" "${mpi[@]}" "${libraries[@]}") ;;
    *)
        echo "hecaton: install-deps.sh takes base, bench, events or test" >&2
        exit 2
        ;;
esac
command -v dpkg-query >/dev/null || fail "this is not a Debian system; what Debian calls ${wanted[*]} has to be installed by hand"

missing=()
for package in "${wanted[@]}"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || fail "these Debian packages are missing, and installing them takes root: ${missing[*]}"
    as_root=(sudo)
    sudo true || fail "these Debian packages are missing, and sudo does not let you install them: ${missing[*]}"
fi
mkdir -p "$build" || fail "cannot create $build"
log=$build/install.log
: >"$log" || fail "cannot write $log"

apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@" >>"$log" 2>&1
}

# The last reason that apt-get or dpkg gave, or what it comes down to.
reason() {
    if grep -q -e 'No space left on device' -e 'enough free space' "$log"; then
        echo "the disk is full"
    elif grep -q 'Failed to fetch' "$log"; then
        echo "Debian's package servers cannot be reached"
    elif grep -q 'Could not get lock' "$log"; then
        echo "another package manager is at work"
    else
        sed -n 's/^E: //p' "$log" | tail -n 1
    fi
}

give_up() {
    fail "installing ${missing[*]} failed: $(reason) (see $log)"
}

# How much the packages take once unpacked, in bytes, by apt-get's own account. Packages half unpacked on a full disk
# are trouble that outlives this script, so that is asked before.
unpacked_bytes() {
    sed -n 's/^After this operation, \([0-9.,]*\) \([kMG]\?\)B of additional disk space.*/\1\2/p' "$log" | tail -n 1 | tr -d , | tr k K \
        | numfmt --from=si
}

install=(install -y --no-install-recommends "${missing[@]}")
echo "Installing ${missing[*]}"
# Only a system that has never asked, or not for long, needs to ask what there is.
if ! apt_get --download-only "${install[@]}"; then
    apt_get update || true
    apt_get --download-only "${install[@]}" || give_up
fi
needed=$(unpacked_bytes)
free=$(df --output=avail --block-size=1 /usr | tail -n 1)
if [ -n "$needed" ] && [ "$free" -lt "$needed" ]; then
    fail "installing ${missing[*]} takes $(numfmt --to=si "$needed")B in /usr, which has $(numfmt --to=si "$free")B left"
fi
apt_get "${install[@]}" || give_up
