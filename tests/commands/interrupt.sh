# interruptStgRts ends all threads without their handlers: in-calls say so, and a program ends with 252, a message and
# no flush. The stock runtime is no oracle in a test: it does the same, but hangs at times, and a call from another OS
# thread faults in the non-threaded way.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HASKELL'
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Environment
import System.IO
import System.Posix.Signals

foreign import ccall unsafe "interruptStgRts" interruptNow :: IO ()
foreign import ccall unsafe "interrupt_soon" interruptSoon :: Int -> IO ()
foreign import ccall unsafe "interrupt_by_signal" interruptBySignal :: Int -> IO ()

main :: IO ()
main = do
  [how, what] <- getArgs
  hSetBuffering stdout (BlockBuffering Nothing)
  putStrLn "buffered"
  reachable <- newEmptyMVar
  _ <- installHandler sigUSR1 (Catch (putMVar reachable ())) Nothing
  case how of
    "now" -> interruptNow
    "thread" -> interruptSoon 50
    _ -> interruptBySignal 50
  flip finally (hPutStrLn stderr "a handler ran") $ case what of
    "delay" -> threadDelay 60000000
    "signal" -> takeMVar reachable
    "read" -> getLine >>= hPutStrLn stderr
    "many" -> replicateM_ 1000 (forkIO (threadDelay 60000000)) >> threadDelay 60000000
    _ -> forever (evaluate (length (show (2 ^ (1000 :: Int) :: Integer))) >> yield)
  hPutStrLn stderr "main went on"
HASKELL
cat >Exported.hs <<'HASKELL'
-- What threads do as they are interrupted, called from C.
module Exported where

import Control.Concurrent
import Control.Exception
import Control.Monad
import System.IO

foreign import ccall unsafe "interruptStgRts" interruptNow :: IO ()
foreign import ccall safe "interruptStgRts" interruptSafely :: IO ()
foreign import ccall unsafe "interrupt_soon" interruptSoon :: Int -> IO ()
foreign import ccall unsafe "interrupt_by_signal" interruptBySignal :: Int -> IO ()
foreign import ccall safe "usleep" usleep :: Int -> IO ()

foreign export ccall "hs_run" run :: Int -> IO ()

say :: String -> IO ()
say s = putStrLn s >> hFlush stdout

-- What a thread does that must not see its end.
guarded :: IO a -> IO a
guarded act = (act `catch` \e -> say ("caught " ++ show (e :: SomeException)) >> throwIO e) `finally` say "finally"

forever' :: IO a
forever' = forever (threadDelay 1000000)

never :: IO ()
never = newEmptyMVar >>= \v -> takeMVar (v :: MVar ())

allocating :: Integer -> IO ()
allocating n = evaluate (length (show n)) >> allocating (n + 1)

run :: Int -> IO ()
run n = case n of
  0 -> say "now, unsafe" >> guarded (interruptNow >> forever')
  1 -> say "now, safe" >> guarded (interruptSafely >> forever')
  2 -> say "while main delays" >> interruptSoon 50 >> guarded (threadDelay 10000000) >> say "too late"
  3 -> do
    say "while all block"
    v <- newEmptyMVar
    done <- newEmptyMVar
    _ <- forkIO (guarded (takeMVar v) >> putMVar done ())
    interruptSoon 50
    guarded (takeMVar done)
    putMVar v ()
  4 -> say "beside a foreign call" >> forkIO (guarded (usleep 100000 >> forever')) >> interruptSoon 50 >> guarded never
  5 -> say "by a C signal handler" >> interruptBySignal 50 >> guarded forever'
  6 -> do
    say "while threads compute"
    interruptSoon 50
    forM_ [1 .. 4] $ \i -> forkIO (guarded (allocating i))
    guarded (allocating 0)
  7 -> say "masked" >> interruptSoon 50 >> uninterruptibleMask_ (guarded forever')
  8 -> say "buffered" >> hSetBuffering stdout (BlockBuffering Nothing) >> putStr "lost\n" >> interruptNow >> forever'
  9 -> say "returns"
  _ -> return ()
HASKELL
cat >calls.c <<'C'
#include "Rts.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern StgClosure Exported_run_closure;

static int call(int n) {
  Capability *cap = rts_lock();
  HaskellObj result;
  rts_evalIO(&cap, rts_apply(cap, &Exported_run_closure, rts_mkInt(cap, n)), &result);
  int status = rts_getSchedStatus(cap);
  rts_unlock(cap);
  return status;
}

static void in_child(int n, int argc, char **argv) {
  pid_t pid = fork();
  if (pid == 0) {
    hs_init_with_rtsopts(&argc, &argv);
    int first = call(n);
    printf("status %d", first), fflush(stdout);
    int second = call(99);
    printf(", then %d\n", second), fflush(stdout);
    hs_exit();
    printf("ended\n");
    exit(0);
  }
  int status;
  waitpid(pid, &status, 0);
  if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
  else printf("exit code %d\n", WEXITSTATUS(status));
  fflush(stdout);
}

int main(int argc, char **argv) {
  for (int n = 0; n <= 9; n++) in_child(n, argc, argv);
  return 0;
}
C
cat >interrupt.c <<'C'
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

extern void interruptStgRts(void);

static void *after(void *ms) {
  usleep(1000 * (long)ms);
  interruptStgRts();
  return NULL;
}

void interrupt_soon(long ms) {
  pthread_t t;
  pthread_create(&t, NULL, after, (void *)ms);
  pthread_detach(t);
}

static void on_alarm(int signal) { interruptStgRts(); }

void interrupt_by_signal(long ms) {
  struct itimerval time = {.it_value = {.tv_usec = 1000 * ms}};
  signal(SIGALRM, on_alarm);
  setitimer(ITIMER_REAL, &time, NULL);
}
C
# Something to read from that never comes.
mkfifo nothing
exec 9<>nothing

for way in '' -threaded; do
    "$HECATON" ghc -v0 -O -rtsopts $way -outputdir "o$way" Main.hs interrupt.c -o "interrupted$way"
    for how in now thread signal; do
        for what in delay signal read many compute; do
            for flags in '' -V0 -N4; do
                [ "$flags" = -N4 ] && [ -z "$way" ] && continue
                # Without a ticker nothing but an event stops a program of the threaded way that is idle.
                [ "$flags" = -V0 ] && [ -n "$way" ] && [ "$how" != now ] && continue
                said=$(timeout 60 "./interrupted$way" "$how" "$what" +RTS $flags 2>&1 <&9; echo "code $?")
                [ "$said" = "interrupted$way: interrupted"$'\n'"code 252" ] ||
                    fail "$way $how $what $flags: $said"
            done
        done
    done
done

cases='now, unsafe
now, safe
while main delays
while all block
beside a foreign call
by a C signal handler
while threads compute
masked
buffered'
{
    while read -r case; do
        printf '%s\nstatus 3, then 3\nended\nexit code 0\n' "$case"
    done <<<"$cases"
    printf 'returns\nstatus 1, then 1\nended\nexit code 0\n'
} >expected
"$HECATON" ghc -v0 -O -threaded -no-hs-main -outputdir ocalls Exported.hs calls.c interrupt.c -o calls
for flags in '' -N2 -N4 -A16k; do
    GHCRTS=$flags timeout 60 ./calls >out || fail "calls $flags: exit $?: $(cat out)"
    diff expected out >difference || fail "calls $flags: $(cat difference)"
done
