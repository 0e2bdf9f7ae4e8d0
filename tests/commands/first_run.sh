# ./hecaton builds its command first where that is missing or old: it says so if there is something to compile, and is
# silent otherwise.
. "${BASH_SOURCE[0]%/*}/common.bash"

# A project with a cargo that says what it is told to.
mkdir -p project/cli tools
cp "$HECATON" project/hecaton
touch project/Cargo.toml project/cli/main.rs
cat >tools/cargo <<'SH'
#!/bin/sh
printf '%s\n' "$CARGO_SAYS" >&2
[ -z "$CARGO_FAILS" ] || exit 1
mkdir -p target/release
printf '#!/bin/sh\necho ran "$@"\n' >target/release/hecaton
chmod +x target/release/hecaton
SH
chmod +x tools/cargo
export CARGO_SAYS CARGO_FAILS=
first() { PATH=$PWD/tools:$PATH project/hecaton "$@" 2>err; }

CARGO_SAYS='   Compiling libc v0.2
   Compiling hecaton-cli v0.1.0
    Finished `release` profile in 90s'
says 'ran a b' first a b
[ "$(wc -l <err)" = 1 ] && grep -q '^hecaton: building the hecaton command' err || fail "compiling: said $(cat err)"
says 'ran a b' first a b
[ ! -s err ] || fail "nothing to do: said $(cat err)"

# The sources are newer, but the same.
CARGO_SAYS='    Finished `release` profile in 0.1s'
touch -d '+1 minute' project/cli/main.rs
says ran first
[ ! -s err ] || fail "nothing to compile: said $(cat err)"

CARGO_FAILS=1
CARGO_SAYS='   Compiling hecaton-cli v0.1.0
error: it is wrong'
touch -d '+2 minutes' project/cli/main.rs
! first >out || fail "a build that fails succeeded"
[ "$(sed -n '2,$p' err)" = "error: it is wrong
hecaton: building the hecaton command failed" ] || fail "a build that fails: said $(cat err)"
