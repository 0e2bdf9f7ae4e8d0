-- Bound threads, calls back from C, finalizers and signal handlers, while threads of a scheduler run and wait for them.
-- ghc: -O -threaded
-- needs: hecaton QuickCheck unix
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign.Ptr
import Hecaton.Scheduler (Scheduler, forkIn, withScheduler)
import LibrarySchedulers
import OnSubstrate
import System.Mem (performMajorGC)
import System.Mem.Weak (mkWeakPtr)
import System.Posix.Signals
import System.Timeout (timeout)

foreign import ccall "wrapper" newCallback :: IO () -> IO (FunPtr (IO ()))

foreign import ccall safe "dynamic" callC :: FunPtr (IO ()) -> IO ()

main :: IO ()
main =
  substrateProgram
    [ expect "main is bound in a scheduler" [] (forAll' (\s -> withScheduler s isCurrentThreadBound))
    , expect "runInBoundThread" [] (forAll' (`inside` runInBoundThread isCurrentThreadBound))
    , expect "a thread of forkOS serves others" [] (forAll' (`inside` served forkOS))
    , expect "forkOS in a bound thread" [] (forAll' (`inside` runInBoundThread (served forkOS)))
    , expect "a call back from C" [] (forAll' (`inside` calledBack))
    , expect "a call back that waits for a thread of the scheduler" [] (forAll' waiting)
    , expect "a call back that throws, and forks" [] (forAll' (`inside` throwing))
    , expect "a call back within a call back" [] (forAll' (`inside` nested))
    , expect "a call back is interrupted" [] (forAll' (`inside` interrupted))
    , expect "a finalizer" [] (forAll' (`inside` finalized))
    , expect "a signal handler" [] (forAll' (`inside` signalled))
    ]

-- Runs an action in a thread of the scheduler, while another one yields. It waits at times, because under LIFO it would
-- let no older one run otherwise.
inside :: Scheduler a -> IO Bool -> IO Bool
inside s action = do
  result <- newEmptyTMVarIO
  over <- newTVarIO False
  _ <- forkIn s (busy over)
  _ <- forkIn s (try action >>= atomically . putTMVar result)
  r <- timeout 30000000 (atomically (takeTMVar result))
  atomically (writeTVar over True)
  case r of
    Just (Left e) -> throwIO (e :: SomeException)
    Just (Right ok) -> return ok
    Nothing -> return False
  where
    busy over = readTVarIO over >>= \is -> unless is (replicateM_ 10 yield >> threadDelay 10 >> busy over)

-- The thread answers each number with the next one.
served :: (IO () -> IO ThreadId) -> IO Bool
served make = do
  [ask, answer] <- replicateM 2 newEmptyMVar
  _ <- make (replicateM_ 20 (takeMVar ask >>= putMVar answer . (+ 1)))
  answers <- forM [1 .. 20 :: Int] (\n -> putMVar ask n >> takeMVar answer)
  return (answers == [2 .. 21])

calling :: IO () -> IO ()
calling action = bracket (newCallback action) freeHaskellFunPtr callC

calledBack :: IO Bool
calledBack = do
  ran <- newIORef (0 :: Int)
  calling (replicateM_ 10 (yield >> modifyIORef' ran (+ 1)))
  (== 10) <$> readIORef ran

-- The thread has its HEC's slot when it leaves for C.
waiting :: Scheduler a -> IO Bool
waiting s = inside s $ do
  [ask, answer] <- replicateM 2 newEmptyMVar
  _ <- forkIn s (forM_ [1 .. 5 :: Int] (\n -> takeMVar ask >>= \m -> putMVar answer (n + m)))
  sums <- newIORef []
  calling (forM_ [1 .. 5] (\n -> putMVar ask n >> takeMVar answer >>= \m -> modifyIORef sums (m :)))
  (== [10, 8, 6, 4, 2]) <$> readIORef sums

throwing :: IO Bool
throwing = do
  caught <- newEmptyMVar
  calling (throwIO (ErrorCall "no") `catch` \(ErrorCall text) -> void (forkIO (putMVar caught text)))
  (== "no") <$> takeMVar caught

nested :: IO Bool
nested = do
  depth <- newIORef (0 :: Int)
  let go n = unless (n == 0) (calling (modifyIORef' depth (+ 1) >> yield >> go (n - 1)))
  go (4 :: Int)
  (== 4) <$> readIORef depth

interrupted :: IO Bool
interrupted = do
  began <- newEmptyMVar
  ended <- newEmptyMVar
  calling $ do
    me <- myThreadId
    _ <- forkIO (takeMVar began >> killThread me)
    (putMVar began () >> forever yield) `catch` \e -> putMVar ended (e == ThreadKilled)
  takeMVar ended

finalized :: IO Bool
finalized = do
  done <- newEmptyMVar
  value <- newIORef 'v'
  _ <- mkWeakPtr value (Just (putMVar done ()))
  _ <- readIORef value
  performMajorGC
  takeMVar done
  return True

signalled :: IO Bool
signalled = do
  got <- newEmptyMVar
  before <- installHandler sigUSR1 (Catch (putMVar got ())) Nothing
  raiseSignal sigUSR1
  takeMVar got
  _ <- installHandler sigUSR1 before Nothing
  return True
