# +RTS --scheduler and HECATON_SCHEDULER with names of the package's schedulers: main runs under them, and the threads
# that it makes, and the program ends as otherwise. Any program that is linked with the package can be run so.
. "${BASH_SOURCE[0]%/*}/common.bash"

# It refers to no scheduler.
cat >Plain.hs <<'END'
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Hecaton.Event ()
import System.Environment
import System.Exit

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["threads"] -> do
      boxes <- forM [1 .. 5 :: Int] $ \i -> do
        box <- newEmptyMVar
        box <$ forkIO (evaluate (sum [1 .. i * 1000]) >>= putMVar box)
      mapM takeMVar boxes >>= print . sum
    ["order"] -> do
      -- They become able to run before main waits, and do not wait themselves.
      ran <- newIORef []
      done <- newEmptyMVar
      forM_ "abc" $ \name -> forkIO $ do
        names <- atomicModifyIORef' ran (\before -> (before ++ [name], before ++ [name]))
        when (length names == 3) (putMVar done names)
      takeMVar done >>= putStrLn
    ["exit"] -> exitWith (ExitFailure 7)
    ["error"] -> ioError (userError "no")
    _ -> threadDelay 1000 >> putStrLn "delayed"
END
cat >Under.hs <<'END'
import Control.Concurrent
import Control.Concurrent.STM
import Data.Dynamic
import Hecaton.Substrate

-- What the scheduler keeps for main, and for a thread that main makes.
main :: IO ()
main = do
  found <- newEmptyMVar
  kept >>= print
  forkIO (kept >>= putMVar found) >> takeMVar found >>= print
  where
    kept = dynTypeRep <$> atomically (ownSCont >>= getAux)
END
for flags in '' -threaded '-threaded -dynamic'; do
    for program in Plain Under; do
        rm -f $program.o $program.hi
        # shellcheck disable=SC2086
        "$HECATON" ghc -v0 -O -rtsopts $flags -package hecaton -package stm $program.hs
    done
    says $'()\n()' timeout 20 ./Under
    HECATON_SCHEDULER=Fifo says abc timeout 20 ./Plain order
    HECATON_SCHEDULER=Lifo says cba timeout 20 ./Plain order
    for name in Deadline FairShare Fifo Gang Lifo Priority Random:5 RoundRobin WorkStealing; do
        says $'Member\nMember' timeout 20 ./Under +RTS --scheduler=$name
        HECATON_SCHEDULER=$name says 27507500 timeout 20 ./Plain threads
        says delayed timeout 20 ./Plain +RTS --scheduler=$name
        status=0
        timeout 20 ./Plain exit +RTS --scheduler=$name || status=$?
        [ $status = 7 ] || fail "$name: exit code $status"
        status=0
        timeout 20 ./Plain error +RTS --scheduler=$name 2>err || status=$?
        [ $status = 1 ] && grep -qx 'Plain: user error (no)' err || fail "$name: exit code $status, said $(cat err)"
    done
done

for name in Last Random: Random:x Fifo:1; do
    ! HECATON_SCHEDULER=$name ./Plain 2>err || fail "$name is accepted"
    grep -q "^Plain: no such scheduler (there are fifo, lifo, random:<seed>, Deadline, .* and Random:<seed>): $name\$" err ||
        fail "said $(cat err)"
done
! ./Plain +RTS --scheduler=last 2>err || fail 'a wrong option is accepted'
grep -q 'no such scheduler (there are fifo, lifo and random:<seed>): --scheduler=last' err || fail "said $(cat err)"

# Without the package there are no such names.
echo 'main = putStrLn "end"' >Without.hs
"$HECATON" ghc -v0 -rtsopts Without.hs
! ./Without +RTS --scheduler=Lifo 2>err || fail 'a name of the package is accepted without it'
grep -q 'no such scheduler (there are fifo, lifo and random:<seed>): --scheduler=Lifo' err || fail "said $(cat err)"
