# The child of forkProcess has all that a program has, also where the stock runtime is no oracle: a signal that comes
# before its main thread runs is the child's (the stock runtime may give it to the parent), and its statistics and its
# event log are its own.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Early.hs <<'HASKELL'
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Environment
import System.IO
import System.Posix.Process
import System.Posix.Signals

-- Signals that come at once, or a little later: the child has each, and its parent none.
main :: IO ()
main = do
  [name] <- getArgs
  done <- newEmptyMVar
  let handler = Catch (getProcessID >>= putMVar done)
      signal = if name == "interrupt" then sigINT else sigUSR1
      child
        | name == "interrupt" = threadDelay 30000000 `catch` \e -> unless (e == UserInterrupt) (throwIO e)
        | otherwise = getProcessID >>= \me -> takeMVar done >>= \handled -> unless (me == handled) (putStrLn "not the child's")
  _ <- if name == "once" then installHandler sigUSR1 (CatchOnce (getProcessID >>= putMVar done)) Nothing
       else installHandler sigUSR1 handler Nothing
  forM_ [1 .. 60] $ \i -> do
    -- Masked, so that an interrupt comes as the child waits.
    pid <- mask_ (forkProcess child)
    when (i > 20) $ threadDelay (i * 20)
    signalProcess signal pid
    status <- getProcessStatus True False pid
    print status
    hFlush stdout
  tryTakeMVar done >>= print
HASKELL
cat >Counts.hs <<'HASKELL'
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Environment
import System.Exit
import System.IO
import System.Mem
import System.Posix.Process
import System.Posix.Signals

-- The parent allocates 80 MB and more, its child next to nothing.
main :: IO ()
main = do
  [n] <- map read <$> getArgs
  _ <- evaluate (sum [x * x | x <- [1 .. n :: Integer]])
  performMajorGC
  forM_ [return (), exitWith (ExitFailure 3), raiseSignal sigINT >> threadDelay 30000000] $ \end -> do
    pid <- forkProcess end
    getProcessStatus True False pid >>= print
    hFlush stdout
HASKELL
for way in '' -threaded; do
    for program in Early Counts; do
        "$HECATON" ghc -v0 -O -rtsopts -eventlog $way -outputdir "o$way" -main-is Main "$program.hs" -o "$program$way"
        rm -f "o$way"/Main.*
    done
done

for run in Early Early-threaded 'Early-threaded -N2' 'Early-threaded -N4'; do
    read -r program hecs <<<"$run"
    for signal in interrupt handled once; do
        timeout 120 "./$program" "$signal" +RTS $hecs >out || fail "$run $signal: exit $?"
        [ "$(sort out | uniq -c | tr -s ' ')" = " 60 Just (Exited ExitSuccess)
 1 Nothing" ] || fail "$run $signal: $(sort out | uniq -c)"
    done
done

# number FIELD FILE : of machine-readable statistics.
number() { sed -n "s/.*(\"$1\", \"\([0-9.]*\)\").*/\1/p" "$2"; }

for run in Counts Counts-threaded 'Counts-threaded -N2'; do
    read -r program hecs <<<"$run"
    rm -f stats
    "./$program" 1000000 +RTS $hecs -tstats --machine-readable >out
    says 'Just (Exited ExitSuccess)
Just (Exited (ExitFailure 3))
Just (Terminated 2 False)' cat out
    [ "$(grep -c "^'./$program' '1000000'" stats)" = 4 ] || fail "$run: not every process says how it was called: $(cat stats)"
    # The parent is the last to end.
    number 'bytes allocated' stats >allocated
    [ "$(wc -l <allocated)" = 4 ] || fail "$run: statistics are missing: $(cat stats)"
    head -3 allocated | while read -r bytes; do
        [ "$bytes" -lt 20000000 ] || fail "$run: a child counts what its parent has allocated: $(cat allocated)"
    done
    [ "$(tail -1 allocated)" -gt 40000000 ] || fail "$run: the parent's statistics: $(cat allocated)"
    number num_byte_usage_samples stats | while read -r samples; do
        [ "$samples" -gt 0 ] || fail "$run: nobody has looked how much is alive: $(cat stats)"
    done
    # However a process ends, its log has an end.
    rm -f *.eventlog
    "./$program" 1000 +RTS $hecs -l >out
    [ "$(ls *.eventlog | wc -l)" = 4 ] || fail "$run: there are $(ls *.eventlog)"
    for log in *.eventlog; do
        [ "$(tail -c 2 "$log" | od -An -tx1)" = " ff ff" ] || fail "$run: $log has no end"
    done
done
