# `hecaton run --scheduler` and `--explore`: threads in another order; concurrency bugs found by seed, and repeated.
. "${BASH_SOURCE[0]%/*}/common.bash"
bugs=$(dirname "$HECATON")/demo/bugs

# explored CODE FLAG… : its standard output is in `out`.
explored() {
    local code=$1 got=0
    shift
    "$HECATON" run "$@" >out 2>err || got=$?
    [ "$got" = "$code" ] || fail "$*: exit $got instead of $code: $(cat out err)"
    [ ! -s err ] || fail "$*: said $(cat err)"
}

# Scripts show which runs there are, and which of them counts.
cat >by_seed <<'END'
#!/bin/bash
echo "$HECATON_SCHEDULER" >>runs
echo "printed by $HECATON_SCHEDULER"
echo "said by ${HECATON_SCHEDULER:-none}" >&2
[ -z "$(cat)" ] || exit 9
case $HECATON_SCHEDULER in
    random:5) sleep 0.3 && exit 3 ;;
    random:6) kill -SEGV $$ ;;
    *) exit "${1-0}" ;;
esac
END
chmod +x by_seed
for jobs in 1 2 3; do
    : >runs
    HECATON_SCHEDULER=lifo explored 1 --explore=50 --jobs=$jobs ./by_seed
    grep -q '^\./by_seed: exit 0 plainly, but with seed 5: exit 3$' out || fail "another seed is reported: $(cat out)"
    grep -q '^    said by random:5$' out || fail "its standard error is missing: $(cat out)"
    ! grep -q 'printed by' out || fail "the output of explored runs is shown"
    ! grep -q 'a second run' out || fail "the second run was the same: $(cat out)"
    # One run more for a seed that is found.
    diff <(sort -u runs | head -n 6) <(printf '%s\n' '' random:{1,2,3,4,5})
    [ "$(sort -u runs | wc -l)" -le $((5 + jobs + 1)) ] || fail "seeds beyond the first were begun: $(cat runs)"
done
explored 0 --explore=4 ./by_seed
says './by_seed: exit 0 plainly and with each of 4 seeds' cat out
explored 1 --explore=9 ./by_seed 3
grep -q 'exit 3 plainly, but with seed 6: killed by SIGSEGV$' out || fail "a signal is another end: $(cat out)"
printf '#!/bin/bash\n[ ! -e "$HECATON_SCHEDULER" ] && [ -n "$HECATON_SCHEDULER" ] && >"$HECATON_SCHEDULER" && exit 1\nexit 0\n' >once
chmod +x once
explored 1 --explore=3 --jobs=1 ./once
grep -q '^but a second run with this seed: exit 0' out || fail "the second run was another: $(cat out)"

# A run that does not end is killed with its children, as are all when the command is interrupted.
cat >slow <<'END'
#!/bin/bash
[ -n "$HECATON_SCHEDULER" ] || exit 0
sleep 1000 &
echo $! >>sleepers
wait
END
chmod +x slow
asleep() {
    local pid
    while read -r pid; do
        # What is dead, and not yet waited for, has no program.
        [ ! -e "/proc/$pid/exe" ] || return 0
    done <sleepers
    return 1
}
explored 1 --explore=2 ./slow
grep -q 'seed 1: did not end within 1.0 s$' out || fail "the time limit: $(cat out)"
grep -q '^standard error is empty$' out || fail "nothing was said: $(cat out)"
! asleep || fail "children of a run that was killed are left"
for signal in TERM HUP; do
    rm -f sleepers
    "$HECATON" run --explore=2 --jobs=2 ./slow >out 2>err &
    command=$!
    until [ "$(wc -l 2>/dev/null <sleepers)" = 2 ]; do sleep 0.05; done
    kill -$signal $command
    got=0
    wait $command || got=$?
    [ "$got" = $((128 + $(kill -l $signal))) ] || fail "interrupted by $signal: exit $got"
    for _ in $(seq 100); do
        asleep || break
        sleep 0.02
    done
    ! asleep || fail "children are left after $signal"
done

# Bugs are found and repeated, in both ways.
for bug in LostUpdate LockOrder LostLock; do
    for way in '' -threaded; do
        program=./$bug$way
        ghc -v0 -O -dynamic $way -i"$bugs" -outputdir "o$bug$way" -o "$program" "$bugs/$bug.hs"
        "$HECATON" run "$program" >/dev/null 2>err || fail "$program fails plainly: $(cat err)"
        explored 1 --explore=300 "$program"
        command=$(sed -n '/^to repeat it:$/ { n; p; }' out)
        said=$(sed -n 's/^    //p' out | head -n 1)
        [ -n "$command" ] && [ -n "$said" ] || fail "no report: $(cat out)"
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            got=0
            bash -c "$command" 2>again || got=$?
            [ "$got" = 1 ] || fail "$command: exit $got"
            [ "$(cat again)" = "$said" ] || fail "$command: said $(cat again) instead of $said"
        done
    done
done

# An interleaving is the same for the same seed.
cat >Interleaving.hs <<'END'
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.C
import GHC.Conc
import System.IO
import System.Mem
import System.Timeout

foreign import ccall safe "usleep" usleep :: CUInt -> IO CInt

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  when rtsSupportsBoundThreads (setNumCapabilities 2)
  getNumCapabilities >>= \n -> putStrLn (show n ++ " HECs")
  box <- newMVar (0 :: Int)
  turns <- newTVarIO (0 :: Int)
  done <- newEmptyMVar
  let say who what = putStrLn (who ++ ": " ++ what)
      thread who steps = forkIO $ do
        forM_ [1 .. 5 :: Int] $ \n -> do
          steps n >>= say who
          evaluate (length (show (product [1 .. fromIntegral (20 * n) :: Integer])))
        putMVar done ()
  _ <- thread "delays" $ \n -> do
    threadDelay (7 * n)
    modifyMVar box (\old -> return (old + n, show old))
  _ <- thread "transactions" $ \n -> do
    seen <- atomically $ do
      now <- readTVar turns
      when (now < 2 * n - 2) retry
      writeTVar turns (now + 1)
      return now
    swapped <- modifyMVar box (\old -> return (2 * old, old))
    return (show (seen, swapped))
  _ <- thread "time limits" $ \n -> do
    finished <- timeout (40 * n) (forM_ [1 .. 100] $ \i -> modifyMVar_ box (\old -> return $! old + i `mod` 2))
    atomically (readTVar turns >>= writeTVar turns . (+ 2))
    return (show finished)
  -- Main is runnable during many of these calls.
  _ <- thread "calls" $ \n -> do
    _ <- if even n then usleep 200 else 0 <$ performMinorGC
    putMVar done ()
    return ""
  replicateM_ 9 (takeMVar done)
  readMVar box >>= print
END
for way in '' -threaded; do
    program=./interleaving$way
    ghc -v0 -O -dynamic $way -outputdir "o$program" -o "$program" Interleaving.hs
    for seed in 1 2 3 4 5 6 7 8 9 10; do
        for time in first second; do
            "$HECATON" run --scheduler=random:$seed "$program" >"$program.$seed.$time" || fail "$program, seed $seed: exit $?"
        done
        cmp "$program.$seed.first" "$program.$seed.second" || fail "$program, seed $seed: two interleavings"
    done
    says '1 HECs' head -n 1 "$program.1.first"
    different=$(cksum "$program".*.first | cut -d ' ' -f 1 | sort -u | wc -l)
    [ "$different" -ge 5 ] || fail "$program: ten seeds have $different interleavings"
    for order in fifo lifo; do
        "$HECATON" run --scheduler=$order "$program" >"$program.$order" || fail "$program, $order: exit $?"
    done
    ! cmp -s "$program.fifo" "$program.lifo" || fail "$program: fifo and lifo are the same"
    # The variable does without the command.
    HECATON_SCHEDULER=random:3 "$HECATON" run "$program" >by_variable
    cmp by_variable "$program.3.first"
done
explored 0 --explore=20 --jobs=2 ./interleaving
says './interleaving: exit 0 plainly and with each of 20 seeds' cat out
explored 0 --explore=3 ghc --numeric-version
says 'ghc: exit 0 plainly and with each of 3 seeds' cat out

names='one of fifo, lifo and random:SEED'
refused 2 "$names" "$HECATON" run --scheduler=lfio ./interleaving
refused 2 "$names" "$HECATON" run --scheduler=random ./interleaving
refused 2 "$names" "$HECATON" run --scheduler=random:x ./interleaving
refused 2 '0 is not in 1\.\.' "$HECATON" run --explore=0 ./interleaving
refused 2 'invalid digit' "$HECATON" run --explore=few ./interleaving
refused 2 '0 is not in 1\.\.' "$HECATON" run --explore=3 --jobs=0 ./interleaving
refused 2 '--explore.*missing' "$HECATON" run --jobs=3 ./interleaving
refused 2 '--scheduler' "$HECATON" run --explore=3 --scheduler=fifo ./interleaving
refused 2 PROGRAM "$HECATON" run --explore=3
refused 1 'no program' "$HECATON" run --explore=3 no-such-program
ghc -v0 -outputdir ostatic -o static Interleaving.hs
refused 1 'statically.*hecaton ghc' "$HECATON" run --explore=3 ./static
printf '#!/no/such/shell\n' >lost && chmod +x lost
refused 1 'first line' "$HECATON" run --explore=3 ./lost
