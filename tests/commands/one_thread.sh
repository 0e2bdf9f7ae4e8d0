# A program of the non-threaded way runs where the system gives it no second OS thread: with time slices, delays and
# signals, and with no helpers of the collector. One of the threaded way says what it lacks.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as M
import Foreign.C
import Foreign.Ptr
import System.Environment
import System.IO
import System.Posix.IO
import System.Posix.Process
import System.Posix.Signals

foreign import ccall safe "poll" c_poll :: Ptr () -> CULong -> CInt -> IO CInt
foreign import ccall safe "sleep" c_sleep :: CUInt -> IO CUInt

-- Never blocks, and allocates.
count :: IORef Integer -> IO ()
count r = forever (modifyIORef' r (+ 1))

run :: String -> IO ()
run kind = case kind of
  "hello" -> putStrLn "hello"
  -- Each of the threads that compute has a turn, and main one too.
  "turns" -> do
    rs <- replicateM 3 (newIORef 0)
    forM_ rs (forkIO . count)
    let wait = do
          threadDelay 1000
          ns <- mapM readIORef rs
          unless (all (> 0) ns) wait
    wait
    putStrLn "all have run"
  "calls" -> do
    rs <- replicateM 2 (newIORef (0 :: Int))
    forM_ rs $ \r -> forkIO (forever (c_poll nullPtr 0 30 >> modifyIORef' r (+ 1)))
    let wait = do
          threadDelay 1000
          ns <- mapM readIORef rs
          unless (all (> 0) ns) wait
    wait
    putStrLn "all have run"
  -- No tick interrupts a call: it would say how much is left.
  "sleep" -> do
    _ <- evaluate (product [1 .. 20000 :: Integer])
    c_sleep 1 >>= print
  "descriptor" -> do
    (r, w) <- createPipe
    _ <- forkIO (newIORef 0 >>= count)
    _ <- forkIO (threadDelay 1000 >> void (fdWrite w "x"))
    threadWaitRead r
    putStrLn "readable"
  _ | kind `elem` ["signal", "own signal"] -> do
    done <- newEmptyMVar
    -- The stock runtime's own timer sends the second of these.
    forM_ (sigUSR1 : [sigVTALRM | kind == "own signal"]) $ \s -> do
      _ <- installHandler s (Catch (putMVar done ())) Nothing
      t <- forkIO (newIORef 0 >>= count)
      raiseSignal s
      takeMVar done
      killThread t
    putStrLn "handled"
  "interrupt" -> do
    t <- myThreadId
    _ <- forkIO (threadDelay 1000 >> throwTo t UserInterrupt)
    r <- try (newIORef 0 >>= count)
    print (r :: Either AsyncException ())
  "grow" -> print (M.foldl' (+) 0 (M.fromList [(i, i) | i <- [1 .. 300000 :: Int]]))
  _ -> error "what?"

main :: IO ()
main = getArgs >>= mapM_ run
END
ghc -v0 -O -rtsopts -outputdir stock -o stock-main Main.hs
"$HECATON" ghc -v0 -O -rtsopts -outputdir plain -o plain-main Main.hs
"$HECATON" ghc -v0 -O -rtsopts -threaded -outputdir threaded -o threaded-main Main.hs

# The limit does not hold for root, and counts all processes of a user: so a user that has none.
[ "$(id -u)" = 0 ] || { echo 'takes root, to become a user without processes'; exit 77; }
user=64321
[ -z "$(ps -o pid= -u $user)" ] || { echo "user $user has processes"; exit 77; }
chmod a+rx . ./*-main
# alone COMMAND… : it may start no OS thread. (It runs from a folder that this user may not be able to reach.)
alone() {
    timeout 100 prlimit --nproc=1 setpriv --reuid=$user --regid=$user --clear-groups "$@"
}
exec 8<stock-main 7<plain-main 6<threaded-main
stock=/proc/self/fd/8 plain=/proc/self/fd/7 threaded=/proc/self/fd/6

for kind in hello turns calls sleep descriptor signal interrupt grow; do
    expected=$(alone $stock $kind) || fail "stock, $kind: exit $?"
    says "$expected" alone $plain $kind
done
says handled alone $plain 'own signal'
# A collection finds no helpers: neither those that an option asks for, nor those for a large heap.
expected=$(./stock-main grow)
HECATON_CHECK=heap,gc-threads=4 says "$expected" alone $plain grow +RTS -A1m

got=0
alone $threaded hello 2>err >out || got=$?
[ $got = 1 ] || fail "threaded: exit $got"
[ "$(wc -l <err)" = 1 ] || fail "threaded: said $(cat err)"
grep -q 'cannot start' err || fail "threaded: said $(cat err)"
