# Event logs, read by the ghc-events library: what programs say and do is in them, as in those of the stock runtime, and
# every HEC's, thread's and task's events make sense in the order of their times.
. "${BASH_SOURCE[0]%/*}/common.bash"
ghc-pkg --simple-output list ghc-events | grep -q ghc-events || { echo "the Haskell package ghc-events is not installed"; exit 77; }

mkdir -p read stock ours
cat >read/Summary.hs <<'HASKELL'
import Control.Monad
import Data.List
import qualified Data.Map as M
import GHC.RTS.Events
import GHC.RTS.Events.Analysis
import GHC.RTS.Events.Analysis.Capability
import GHC.RTS.Events.Analysis.Thread
import System.Environment
import System.Exit

main :: IO ()
main = do
  how : file : whose <- getArgs
  es <- either error (sortEvents . events . dat) <$> readEventLogFromFile file
  holds "threads on HECs" capabilityThreadRunMachine es
  holds "threads by HECs" capabilityThreadPoolMachine es
  holds "tasks on HECs" capabilityTaskPoolMachine es
  holds "tasks and OS threads" capabilityTaskOSMachine es
  holds "threads" (indexM threadOf (refineM evSpec threadMachine)) es
  let same a b = if count a == count b then return () else die (a ++ " and " ++ b ++ " do not come in pairs")
      count name = length (filter ((== name) . kind) es)
  -- The stock runtime sometimes leaves out the last events of a program.
  when (whose /= ["stock"]) $ same "StartGC" "EndGC" >> same "CapCreate" "CapDelete"
  case how of
    "said" -> mapM_ putStrLn (nub (sort [s | Event _ e _ <- es, Just s <- [said (managers es) e]]))
    "all" -> mapM_ (print . evSpec) es
    "kinds" -> mapM_ putStrLn (nub (sort (map kind es)))
    _ -> return ()

holds :: String -> Machine s Event -> [Event] -> IO ()
holds what m es = case validate m es of
  Left (_, e) -> die (what ++ ": does not fit: " ++ show e)
  Right _ -> return ()

kind :: Event -> String
kind = takeWhile (/= ' ') . show . evSpec

threadOf :: Event -> Maybe ThreadId
threadOf e = case evSpec e of
  CreateThread t -> Just t
  RunThread t -> Just t
  StopThread t _ -> Just t
  WakeupThread t _ -> Just t
  MigrateThread t _ -> Just t
  _ -> Nothing

-- The threads of base's event manager.
managers :: [Event] -> [ThreadId]
managers es = [t | Event _ (ThreadLabel t l) _ <- es, "Manager" `isInfixOf` show l]

-- What does not depend on scheduling.
said :: [ThreadId] -> EventInfo -> Maybe String
said base e = case e of
  UserMessage m -> Just ("message " ++ show m)
  UserMarker m -> Just ("marker " ++ show m)
  ThreadLabel t l -> Just ("label " ++ show (t, l))
  CreateThread t -> Just ("thread " ++ show t)
  StopThread t s | t `notElem` base, show s `notElem` ["HeapOverflow", "StackOverflow", "ThreadYielding", "ForeignCall"] -> Just (show t ++ " stops: " ++ show s)
  ProgramArgs _ as -> Just (show (drop 1 as))
  HeapInfoGHC _ gens most nursery _ _ -> Just (show (gens, most, nursery))
  _ -> Nothing
HASKELL
ghc -v0 -O -outputdir read/o read/Summary.hs -o read/summary

cat >Traced.hs <<'HASKELL'
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import qualified Data.Map as M
import Debug.Trace
import GHC.Conc (labelThread, par)
import System.Environment
import System.Exit
import System.Mem
import System.Posix.Process

main :: IO ()
main = do
  args <- getArgs
  traceEventIO "begin"
  case args of
    ["waits"] -> waits
    ["busy"] -> busy
    ["fork"] -> do
      pid <- forkProcess (traceEventIO "in the child" >> performGC)
      _ <- getProcessStatus True False pid
      traceEventIO "in the parent"
    ["sparks"] -> do
      let xs = [length (show (product [1 .. n])) | n <- [1000 .. 1199 :: Integer]]
      evaluate (foldr par (sum xs) xs) >>= print
    ["exit"] -> exitWith (ExitFailure 3)
    ["heap"] -> print (M.size (M.fromList [(i, show i) | i <- [1 .. 10000000 :: Int]]))
    _ -> return ()
  traceMarkerIO "end"

-- Every thread waits once, and is woken by main.
waits :: IO ()
waits = do
  box <- newEmptyMVar
  var <- newTVarIO False
  masked <- newEmptyMVar
  done <- newEmptyMVar
  let start name action = do
        t <- forkIO (action `finally` putMVar done ())
        labelThread t name
        threadDelay 20000
        return t
  _ <- start "takes" (void (takeMVar box))
  putMVar box () >> takeMVar done
  _ <- start "reads" (readMVar box)
  putMVar box () >> takeMVar done
  _ <- start "retries" (atomically (readTVar var >>= check))
  atomically (writeTVar var True) >> takeMVar done
  target <- start "is masked" (mask_ (takeMVar masked `catch` \e -> traceEventIO (show (e :: SomeException))))
  killThread target >> takeMVar done
  traceEvent "pure" (return ())

busy :: IO ()
busy = do
  done <- newEmptyMVar
  forM_ [1 .. 8 :: Int] $ \i -> forkIO $ do
    forM_ [1 .. 100 :: Int] $ \j -> traceEventIO (show (i, j)) >> yield
    _ <- evaluate (M.foldr (+) 0 (M.fromList [(k * i, k) | k <- [1 .. 20000]]))
    putMVar done ()
  replicateM_ 8 (takeMVar done)
HASKELL
for way in '' -threaded; do
    for dir in stock ours; do
        ghc=(ghc)
        [ $dir = stock ] || ghc=("$HECATON" ghc)
        "${ghc[@]}" -v0 -O -eventlog -rtsopts $way -outputdir "$dir/o$way" Traced.hs -o "$dir/traced$way"
    done
done

# both NAME ARGUMENT… : runs it on both runtimes, each in its folder. Both with the event manager of base, so that they
# have the same threads.
both() {
    local name=$1
    shift
    for dir in stock ours; do
        local options=
        [ $dir = stock ] || options=--io-manager=base
        (cd $dir && GHCRTS=$options "./$name" "$@" >out 2>err) || echo $? >$dir/code
    done
}

# alike HOW NAME LOG : the summaries of both logs must be the same.
alike() {
    for dir in stock ours; do
        read/summary "$1" $dir/"$3" $dir >$dir/summary || fail "$dir $2: cannot be read, or makes no sense"
    done
    diff stock/summary ours/summary || fail "$2: the logs differ in what is $1"
}

for name in traced traced-threaded; do
    both $name waits +RTS -l
    alike said "$name waits" $name.eventlog
    both $name busy +RTS -l-a
    alike kinds "$name -l-a" $name.eventlog
    both $name busy +RTS -l-ag -ollog
    for dir in stock ours; do read/summary kinds $dir/log $dir | grep -v '^Request\|^Cap' >$dir/kinds; done
    diff stock/kinds ours/kinds || fail "$name -l-ag: the kinds of events differ"
    both $name busy +RTS -l-au -A64k
    for dir in stock ours; do read/summary said $dir/$name.eventlog $dir >$dir/messages; done
    [ "$(grep -c '^message' ours/messages)" = 801 ] || fail "$name busy: messages are missing"
    diff stock/messages ours/messages || fail "$name busy: the messages differ"
done

# Several HECs, and many blocks.
for options in '-N2' '-N4 -A64k' '-N3 -C0'; do
    ./ours/traced-threaded busy +RTS -l -olmany $options
    [ "$(read/summary said many | grep -c '^message')" = 801 ] || fail "$options: messages are missing"
done

# Every spark, or how many there were.
both traced-threaded sparks +RTS -l-af -N2
for dir in stock ours; do
    [ "$(read/summary all $dir/traced-threaded.eventlog $dir | grep -c SparkCreate)" = 200 ] || fail "$dir: sparks are missing"
done
both traced-threaded sparks +RTS -l-ap -N2
for dir in stock ours; do
    read/summary all $dir/traced-threaded.eventlog $dir | grep 'SparkCounters {sparksCreated = 200,' >seen || fail "$dir: sparks are not counted"
done

# The child of a fork has its own file, by default and where -ol says.
for options in '' '-ollog'; do
    mkdir -p forked
    rm -f forked/*
    (cd forked && ../ours/traced-threaded fork +RTS -l $options)
    [ "$(ls forked | wc -l)" = 2 ] || fail "fork $options: there are $(ls forked)"
    for log in forked/*; do read/summary said $log >$log.said; done
    grep -l '"in the parent"' forked/*.said | grep -q '/\(log\|traced-threaded.eventlog\).said' || fail "fork $options: the parent's log"
    grep -l '"in the child"' forked/*.said | grep -q '/\(log.[0-9]*\|traced-threaded.[0-9]*.eventlog\).said' || fail "fork $options: the child's log"
done

# A log is whole however the program ends.
for end in 'exit 3' 'heap 251'; do
    code=0
    ./ours/traced-threaded ${end% *} +RTS -l -olends -M20m 2>err || code=$?
    [ $code = ${end#* } ] || fail "$end: exit $code"
    read/summary none ends || fail "$end: the log makes no sense"
    [ "$(tail -c 2 ends | od -An -tx1)" = ' ff ff' ] || fail "$end: the log has no end"
done

# What is wrong with the destination is told as the stock runtime tells it.
rm -f stock/code ours/code
both traced none +RTS -l -ol/nowhere/log
[ "$(cat stock/code stock/err)" = "$(cat ours/code ours/err)" ] || fail "-ol/nowhere/log: $(cat ours/code ours/err)"
both traced none +RTS -lxq -ol/dev/null
diff stock/err ours/err || fail "-lxq: said $(cat ours/err)"

# As text.
for dir in stock ours; do
    ghc=(ghc)
    [ $dir = stock ] || ghc=("$HECATON" ghc)
    "${ghc[@]}" -v0 -debug -rtsopts -outputdir $dir/od Traced.hs -o $dir/traced-debug
done
both traced-debug waits +RTS -v-au
diff stock/err ours/err || fail "-v-au: said $(cat ours/err)"
