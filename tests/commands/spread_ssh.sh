# `hecaton spread --hosts` by ssh, to a server of this test's own on this machine.
. "${BASH_SOURCE[0]%/*}/common.bash"
. "${BASH_SOURCE[0]%/*}/spread_programs.bash"

server=$(PATH=$PATH:/usr/sbin command -v sshd) || { echo 'openssh-server is not installed'; exit 77; }
command -v ssh ssh-keygen >/dev/null || { echo 'openssh-client is not installed'; exit 77; }
if [ "$(id -u)" = 0 ]; then
    getent passwd sshd >/dev/null || { echo 'there is no user sshd, whom a server of root needs'; exit 77; }
    mkdir -p /run/sshd
fi
umask 077
for key in host user; do ssh-keygen -q -t ed25519 -N '' -f "$key"; done
port=$((20000 + RANDOM % 10000))
cat >config <<CONFIG
Port $port
ListenAddress 127.0.0.1
HostKey "$PWD/host"
AuthorizedKeysFile "$PWD/user.pub"
PidFile none
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
CONFIG
"$server" -D -e -f "$PWD/config" 2>log &
daemon=$!
trap 'kill $daemon' EXIT
options="-F none -p $port -i '$PWD/user' -o StrictHostKeyChecking=no -o 'UserKnownHostsFile=$PWD/known' -o BatchMode=yes"
export HECATON_RSH="ssh $options -o LogLevel=ERROR"
for _ in $(seq 100); do
    kill -0 $daemon 2>/dev/null || { echo "sshd does not run here: $(tail -n 1 log)"; exit 77; }
    ! eval "ssh $options localhost true" 2>/dev/null || break
    sleep 0.05
done
eval "ssh $options localhost true" 2>err || { echo "sshd lets nobody in here: $(tail -n 1 err)"; exit 77; }

make_work
spread=("$HECATON" spread --hosts localhost:2,127.0.0.1:2)
gives_work timeout 200 "${spread[@]}" ./work 15 27
[ ! -s err ] || fail "standard error: $(cat err)"
got=0
"${spread[@]}" ./work >out 2>err || got=$?
[ "$got" = 1 ] && grep -q '^work: .*Pattern' err || fail "a program that fails: exit $got, $(cat err)"

cat >Main.hs <<'HS'
import Control.Concurrent
import System.IO
main :: IO ()
main = do
  text <- getContents
  putStrLn (show (length text)) >> hFlush stdout
  threadDelay 60000000
HS
"$HECATON" ghc -v0 -threaded -outputdir o -o main Main.hs
running() {
    local pid found=0
    for pid in /proc/[0-9]*; do [ "$(readlink "$pid/exe")" != "$PWD/main" ] || found=$((found + 1)); done
    echo $found
}
# begin : a run that has begun; `command` is its process, and `ssh` are those that reach the hosts.
begin() {
    : >out
    seq 100000 | env --default-signal=INT "${spread[@]}" ./main >out 2>err &
    command=$!
    until grep -q 588895 out; do sleep 0.02; done
    ssh=($(pgrep -P "$command" | sort -n))
}
# over CODE WHAT : the run ends so.
over() {
    local got=0
    wait "$command" || got=$?
    [ "$got" = "$1" ] || fail "$2: exit $got instead of $1: $(cat err)"
    for _ in $(seq 100); do
        [ "$(running)" != 0 ] || return 0
        sleep 0.05
    done
    fail "$(running) PEs are left after $2"
}
begin
kill -TERM "$command"
over 143 'SIGTERM'
begin
kill -INT "$command"
over 130 'SIGINT'
begin
kill -KILL "$command"
over 137 'the launcher was killed'
begin
kill -KILL "${ssh[1]}"
over 1 'a connection was lost'
says 'hecaton: host 127.0.0.1 is lost: killed by SIGKILL' cat err
