# MVars, TVars, threads and weak pointers of other processing elements: all operations but transactions work on them,
# they keep their identity on each one, and waits for them can be interrupted.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Main.hs <<'HS'
module Main (main) where
import Control.Concurrent
import Control.Concurrent.Chan
import Control.Concurrent.QSem
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.List
import GHC.Conc (threadStatus)
import Hecaton.Cluster
import System.Environment
import System.IO.Unsafe
import System.Mem
import System.Mem.Weak

at :: PE -> IO a -> IO a
at pe action = remoteOn pe action >>= await

mvars :: PE -> IO ()
mvars pe = do
  here <- newEmptyMVar
  at pe (isEmptyMVar here) >>= print
  at pe (putMVar here 'a')
  takeMVar here >>= print
  putMVar here 'b'
  at pe (isEmptyMVar here) >>= print
  at pe (readMVar here) >>= print
  at pe (tryReadMVar here) >>= print
  at pe (tryPutMVar here 'x') >>= print
  at pe (tryTakeMVar here) >>= print
  at pe (tryTakeMVar here) >>= print
  at pe (tryReadMVar here) >>= print
  at pe (tryPutMVar here 'c') >>= print
  -- A thread there waits for one here, to take, to read and to put.
  future <- remoteOn pe (takeMVar here)
  await future >>= print
  future <- remoteOn pe (readMVar here)
  threadDelay 10000
  poll future >>= print . fmap (either (const '?') id)
  putMVar here 'd'
  await future >>= print
  future <- remoteOn pe (putMVar here 'e')
  threadDelay 10000
  takeMVar here >>= print
  await future
  takeMVar here >>= print
  -- Two ways: one of its own, which this one fills.
  there <- at pe newEmptyMVar
  future <- remoteOn pe (takeMVar there)
  putMVar there [1, 2, 3 :: Int]
  await future >>= print
  -- Identity.
  same <- at pe (pure there)
  print (same == there)
  mine <- at pe (pure here)
  print (mine == here)
  at pe (pure (there == same && here == mine && here /= mine `seq` True)) >>= print
  box <- at pe (pure (Just (here, there)))
  print (fmap (\(h, t) -> (h == here, t == there)) box)
  performGC
  at pe performGC
  print (fmap (\(h, t) -> (h == here, t == there)) box)

channels :: PE -> IO ()
channels pe = do
  to <- newChan
  from <- at pe newChan
  _ <- remoteOn pe (forM_ [1 .. 200 :: Int] (\_ -> readChan to >>= writeChan from . (* 2)))
  forM_ [1 .. 200 :: Int] (writeChan to)
  doubled <- replicateM 200 (readChan from)
  print (sum doubled)
  -- A counter that several PEs change.
  counter <- newMVar (0 :: Int)
  n <- numPEs
  futures <- forM (map PE [0 .. n - 1]) $ \p -> remoteOn p (replicateM_ 50 (modifyMVar_ counter (pure . (+ 1))))
  mapM_ await futures
  total <- takeMVar counter
  print (total == 50 * n)
  sem <- newQSem 1
  futures <- forM (map PE [0 .. n - 1]) $ \p -> remoteOn p (replicateM_ 5 (bracket_ (waitQSem sem) (signalQSem sem) yield))
  mapM_ await futures

interrupts :: PE -> IO ()
interrupts pe = do
  there <- at pe newEmptyMVar
  -- A wait here for one there is interrupted; nothing is lost.
  thread <- forkIO (takeMVar there >>= \c -> print (c :: Char))
  threadDelay 20000
  threadStatus thread >>= print
  killThread thread
  putMVar there 'k'
  takeMVar there >>= print
  -- Many waits that are interrupted while the values come: as many are taken as are put, or are still there.
  taken <- newMVar (0 :: Int)
  forM_ [1 .. 100 :: Int] $ \k -> do
    done <- newEmptyMVar
    reader <- mask_ (forkIO ((do x <- takeMVar there; modifyMVar_ taken (pure . (+ length [x]))) `finally` putMVar done ()))
    writer <- forkIO (putMVar there 'v')
    when (even k) yield
    when (k `mod` 3 == 0) (threadDelay 100)
    killThread reader
    takeMVar done
    left <- timeoutTake there
    modifyMVar_ taken (pure . (+ left))
    killThread writer
  readMVar taken >>= \n -> print (n == 100)
  where
    -- What the reader has left is there now or is about to come.
    timeoutTake var = go (0 :: Int)
      where
        go tries = do
          x <- tryTakeMVar var
          case x of
            Just _ -> pure 1
            Nothing | tries < 20 -> threadDelay 500 >> go (tries + 1)
            Nothing -> pure (0 :: Int)

threads :: PE -> IO ()
threads pe = do
  (thread, ended) <- at pe $ do
    ended <- newEmptyMVar
    thread <- forkIO (threadDelay 60000000 `catch` \e -> putMVar ended (show (e :: SomeException)))
    pure (thread, ended)
  me <- myThreadId
  print (thread == me, compare thread me == compare me thread)
  mine <- at pe (pure me)
  print (mine == me)
  threadStatus thread >>= print
  throwTo thread (userError "from elsewhere")
  takeMVar ended >>= putStrLn
  -- One here gets an exception from there.
  waiting <- newEmptyMVar
  future <- remoteOn pe (takeMVar waiting >>= \() -> throwTo me (userError "to elsewhere"))
  r <- try (putMVar waiting () >> threadDelay 60000000)
  print (r :: Either IOException ())
  await future
  -- One that has ended.
  ended <- at pe (forkIO (pure ()))
  threadDelay 10000
  killThread ended
  putStrLn "killed"

transactions :: PE -> IO ()
transactions pe = do
  there <- at pe (newTVarIO 'v')
  readTVarIO there >>= print
  r <- try (atomically (readTVar there))
  putStrLn (either (\e -> show (e :: SomeException)) show r)
  r <- try (atomically (writeTVar there 'w'))
  putStrLn (either (\e -> show (e :: SomeException)) show r)
  r <- try (atomically (readTVar there `orElse` pure 'z'))
  putStrLn (either (\e -> show (e :: SomeException)) show r)
  at pe (atomically (writeTVar there 'x'))
  readTVarIO there >>= print
  same <- at pe (pure there)
  print (same == there)
  here <- newTVarIO 'h'
  mine <- at pe (pure (Just here))
  atomically (mapM readTVar mine) >>= print
  future <- remoteOn pe (readTVarIO here)
  await future >>= print

weaks :: PE -> IO ()
weaks pe = do
  gone <- newEmptyMVar
  key <- newMVar 'k'
  weak <- mkWeakMVar key (putMVar gone "finalized")
  at pe (deRefWeak weak >>= mapM readMVar) >>= print
  readMVar key >>= print
  at pe (finalize weak)
  takeMVar gone >>= putStrLn
  at pe (deRefWeak weak >>= \m -> pure (maybe "dead" (const "alive") m)) >>= putStrLn

main :: IO ()
main = do
  n <- numPEs
  forM_ (map PE (if n == 1 then [0] else [1 .. n - 1])) $ \pe -> do
    mvars pe
    channels pe
    interrupts pe
    threads pe
    transactions pe
    weaks pe
HS

"$HECATON" ghc -v0 -O -threaded -rtsopts -package hecaton -package stm -outputdir o -o main Main.hs
./main >alone 2>err || fail "alone: exit $?: $(tail -3 err)"
# Alone a transaction may use all variables.
remote="a transaction uses a TVar of another processing element"
sed "/^'v'\$/{n;s/.*/$remote/;n;s/.*/$remote/;n;s/.*/$remote/}" alone >expected
run() {
    local n=$1
    shift
    timeout 200 "$HECATON" spread -n "$n" ./main "$@" >out 2>err || fail "-n $n $*: exit $?: $(tail -5 err)"
    { for ((pe = 1; pe < n; pe++)); do cat expected; done; } | diff - out || fail "-n $n $*"
}
run 2
run 3 +RTS -N2
run 2 +RTS -A64k
export HECATON_CHECK=heap
run 2
