# In the non-threaded way a thread that a delay or a descriptor wakes does not wait for the end of the running thread's
# time slice, but for the next tick at most. Here slices last a hundred seconds, and the thread that "thinks" does not
# fill its nursery in that time either: a thread that waited for the end of a slice or for a collection would be too
# late.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'END'
import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Environment
import System.IO
import System.Posix.IO

main :: IO ()
main = do
  [busy, event] <- getArgs
  null' <- openFile "/dev/null" WriteMode
  hSetBuffering null' LineBuffering
  r <- newIORef (0 :: Int)
  replicateM_ 3 $ do
    (from, to) <- createPipe
    [begin, write] <- replicateM 2 newEmptyMVar
    t <- forkIO $ takeMVar begin >> forever (case busy of
      "prints" -> hPutStrLn null' "line"
      "thinks" -> readIORef r >>= \n -> writeIORef r $! steps 1000000 n
      _ -> modifyIORef' r (+ 1))
    _ <- forkIO (takeMVar write >> threadDelay 20000 >> void (fdWrite to "x"))
    -- All others wait, and main has just not forked: from here on only a thread that waits for an event gives way.
    yield
    when (event == "descriptor") (putMVar write () >> yield)
    putMVar begin ()
    case event of
      "delay" -> threadDelay 1
      "long delay" -> threadDelay 30000
      "descriptor" -> threadWaitRead from
      _ -> getLine >>= putStrLn
    killThread t
  putStrLn "done"

-- Computes for about a millisecond, and allocates nothing.
steps :: Int -> Int -> Int
steps 0 n = n
steps i n = steps (i - 1) (n * 5 + i)
END
"$HECATON" ghc -v0 -O -rtsopts -outputdir plain -o main Main.hs

for busy in prints computes thinks; do
    for event in delay 'long delay' descriptor; do
        says "$(echo done)" timeout 80 ./main $busy "$event" +RTS -C100 -A256m
    done
    lines() { for i in 1 2 3; do sleep 0.1; echo $i; done; }
    got=$(lines | timeout 80 ./main $busy stdin +RTS -C100 -A256m) || fail "$busy, stdin: exit $?"
    [ "$got" = $'1\n2\n3\ndone' ] || fail "$busy, stdin: printed $got"
done
