-- SConts of threads without a scheduler of their own: blocking and waking with the built-in one, and exceptions to
-- threads that are passive.
-- ghc: -O -threaded
-- needs: hecaton
-- skip-pes: it forks, and one of several processing elements must not
import Control.Concurrent (forkIO, killThread, mkWeakThreadId, myThreadId, threadDelay, throwTo)
import qualified Control.Concurrent as Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.List (sort)
import GHC.Conc (BlockReason (..), ThreadStatus (..), threadStatus)
import Hecaton.Substrate
import OnSubstrate
import System.Exit (ExitCode (..))
import System.Mem (performMajorGC)
import System.Mem.Weak (deRefWeak)
import System.Posix.Process (ProcessStatus (..), exitImmediately, forkProcess, getProcessStatus)

main :: IO ()
main =
  substrateProgram
    [ expect "yield" "aabb" yielding
    , expect "a hand-over of values" [1 .. 50 :: Int] handingOver
    , expect "an SCont runs when it is given to the scheduler" "begun, ended" starting
    , expect "its status" (True, True) statuses
    , expect "a passive thread gets an exception" ("woken", True) killing
    , expect "which waits while a mask is uninterruptible" "given, killed" masked
    , expect "a thread is killed before it runs" (True, False) killedEarly
    , expect "a thread that is never run is collected" True collected
    , expect "the child of a fork has none of them, and makes others" (True, "www") inTheChild
    , expect "one that waits for what is unreachable gets an exception" "blocked indefinitely" unreachable
    ]

yielding :: IO String
yielding = do
  v <- newTVarIO ""
  left <- newTVarIO (2 :: Int)
  forM_ "ab" $ \name -> forkIO $ do
    replicateM_ 2 (atomically (modifyTVar' v (++ [name])) >> switch (\s -> enqueueAct s >> dequeueAct s))
    atomically (modifyTVar' left (subtract 1))
  atomically (readTVar left >>= \n -> when (n > 0) retry)
  sort <$> readTVarIO v

-- A variable of one place. Takers wait in it.
handingOver :: IO [Int]
handingOver = do
  place <- newTVarIO (Left [])
  let put x = atomically $ do
        p <- readTVar place
        case p of
          Left ((hole, s) : others) -> writeTVar hole (Just x) >> writeTVar place (Left others) >> enqueueAct s
          Left [] -> writeTVar place (Right [x])
          Right xs -> writeTVar place (Right (xs ++ [x]))
      take' = do
        hole <- newTVarIO Nothing
        switch $ \s -> do
          p <- readTVar place
          case p of
            Right (x : xs) -> do
              writeTVar hole (Just x)
              writeTVar place (if null xs then Left [] else Right xs)
              return s
            Right [] -> retry
            Left takers -> writeTVar place (Left (takers ++ [(hole, s)])) >> dequeueAct s
        readTVarIO hole >>= maybe take' return
  _ <- forkIO $ forM_ [1 .. 50] $ \i -> do
    when (i `mod` 7 == 0) Concurrent.yield
    when (i `mod` 20 == 0) performMajorGC
    put i
  replicateM 50 take'

starting :: IO String
starting = do
  v <- newTVarIO ""
  let say text = atomically (modifyTVar' v (++ text))
  s <- newSCont (say "begun, " >> Concurrent.yield >> say "ended")
  atomically (enqueueAct s)
  atomically (readTVar v >>= \text -> when (length text < 12) retry)
  readTVarIO v

statuses :: IO (Bool, Bool)
statuses = do
  s <- newSCont (return ())
  before <- threadStatus (threadOf s)
  atomically (enqueueAct s)
  Concurrent.yield
  threadDelay 1000
  after <- threadStatus (threadOf s)
  return (before == ThreadBlocked BlockedOnOther, after == ThreadFinished)

-- Makes a thread that waits, with this around its wait. Returns its SCont.
waiting :: (IO () -> IO ()) -> IO SCont
waiting around = do
  own <- newTVarIO Nothing
  _ <- forkIO (around (switch (\s -> writeTVar own (Just s) >> dequeueAct s)))
  atomically (readTVar own >>= maybe retry return)

killing :: IO (String, Bool)
killing = do
  v <- newTVarIO ""
  s <- waiting (\wait -> wait `catch` \e -> const (atomically (writeTVar v "woken")) (e :: AsyncException))
  killThread (threadOf s)
  atomically (readTVar v >>= \text -> when (null text) retry)
  -- Its SCont is stale.
  atomically (enqueueAct s)
  status <- threadStatus (threadOf s)
  flip (,) (status `elem` [ThreadFinished, ThreadRunning]) <$> readTVarIO v

-- The exception is raised behind the uninterruptible part.
masked :: IO String
masked = do
  v <- newTVarIO ""
  s <- waiting $ \wait ->
    (uninterruptibleMask_ (wait >> atomically (modifyTVar' v (++ "given, "))) >> threadDelay 10000000)
      `catch` \e -> const (atomically (modifyTVar' v (++ "killed"))) (e :: AsyncException)
  _ <- forkIO (killThread (threadOf s))
  Concurrent.yield
  atomically (enqueueAct s)
  atomically (readTVar v >>= \text -> when (length text < 13) retry)
  readTVarIO v

killedEarly :: IO (Bool, Bool)
killedEarly = do
  ran <- newTVarIO False
  s <- newSCont (atomically (writeTVar ran True))
  throwTo (threadOf s) ThreadKilled
  atomically (enqueueAct s)
  Concurrent.yield
  threadDelay 1000
  status <- threadStatus (threadOf s)
  (,) (status `elem` [ThreadFinished, ThreadDied]) <$> readTVarIO ran

collected :: IO Bool
collected = do
  weak <- newSCont (putStrLn "it runs") >>= mkWeakThreadId . threadOf
  performMajorGC
  performMajorGC
  found <- deRefWeak weak
  return (maybe True (const False) found)

-- In the parent they run as before.
inTheChild :: IO (Bool, String)
inTheChild = do
  v <- newTVarIO ""
  passive <- replicateM 3 (waiting (>> atomically (modifyTVar' v ('w' :))))
  child <- forkProcess $ do
    performMajorGC
    atomically (mapM_ enqueueAct passive)
    done <- Concurrent.newEmptyMVar
    s <- newSCont (Concurrent.putMVar done ())
    atomically (enqueueAct s)
    Concurrent.takeMVar done
    text <- readTVarIO v
    exitImmediately (if null text then ExitFailure 7 else ExitSuccess)
  status <- getProcessStatus True False child
  atomically (mapM_ enqueueAct passive)
  atomically (readTVar v >>= \text -> when (length text < 3) retry)
  (,) (status == Just (Exited (ExitFailure 7))) <$> readTVarIO v

unreachable :: IO String
unreachable = do
  v <- newTVarIO ""
  _ <- forkIO (switch dequeueAct `catch` \BlockedIndefinitelyOnMVar -> atomically (writeTVar v "blocked indefinitely"))
  Concurrent.yield
  _ <- myThreadId
  let wait n = do
        performMajorGC
        text <- readTVarIO v
        if null text && n > (0 :: Int) then threadDelay 1000 >> wait (n - 1) else return text
  wait 50
