# submit of the package hecaton hands batches to the kernel by io_uring where the system offers that. Where a filter
# denies it, OS threads perform the operations.
. "${BASH_SOURCE[0]%/*}/common.bash"

command -v strace >/dev/null || { echo "strace is not installed"; exit 77; }
strace -o trace true 2>err || { echo "strace may not be used here: $(head -n 1 err)"; exit 77; }

cat >Main.hs <<'HS'
import Control.Monad
import qualified Data.ByteString.Char8 as Bytes
import Hecaton.Event hiding (init)
import System.Posix.IO

main :: IO ()
main = do
  fd <- openFd "file" ReadWrite (Just 0o600) defaultFileFlags
  let pieces = [Bytes.pack (take 100 (cycle (show i))) | i <- [1 .. 40 :: Int]]
  written <- submit [writeAt fd (100 * i) piece | (i, piece) <- zip [0 ..] pieces]
  synced <- submit [syncData fd]
  back <- forM [1 .. 5 :: Int] $ \_ -> submit [readAt fd (100 * i) 100 | i <- [0 .. 39]]
  print ([n | Right n <- written] == replicate 40 100, length synced)
  print (and [[piece | Right piece <- found] == pieces | found <- back])
HS
expected=$'(True,1)\nTrue'

# A program that runs another one without io_uring.
cat >denied.c <<'C'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
        return 99;
    execv(argv[1], argv + 1);
    return 98;
}
C
gcc -o denied denied.c

calls() { grep -c "$1(" trace || true; }
for flags in '' -threaded '-threaded -dynamic'; do
    rm -f Main Main.o Main.hi
    # shellcheck disable=SC2086
    "$HECATON" ghc -v0 -O $flags Main.hs
    says "$expected" ./denied ./Main
    says "$expected" strace -f -o trace -e trace=io_uring_setup,pread64 ./denied ./Main
    grep -q 'io_uring_setup(.* = -1 EPERM' trace || fail "$flags: io_uring was not asked for, or not denied"
    [ "$(calls pread64)" -ge 200 ] || fail "$flags: $(calls pread64) reads without io_uring"
    reason=$(./Main '+RTS' '-?' 2>&1 | sed -n 's/.*io_uring is not available here: //p')
    if [ -n "$reason" ]; then
        echo "the rest needs io_uring: $reason"
        exit 77
    fi
    says "$expected" strace -f -o trace -e trace=io_uring_enter,pread64 ./Main
    [ "$(calls io_uring_enter)" -ge 7 ] || fail "$flags: $(calls io_uring_enter) calls of io_uring_enter"
    [ "$(calls pread64)" -lt 20 ] || fail "$flags: $(calls pread64) reads beside io_uring"
done
