-- A thread of a round robin that blocks in the runtime leaves its HEC to others of its scheduler, and goes back to the
-- scheduler when it is woken.
-- ghc: -O -threaded
-- needs: hecaton
import Control.Concurrent (forkIO, killThread, myThreadId, newEmptyMVar, putMVar, takeMVar, threadDelay, threadWaitRead)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Hecaton.Substrate
import OnSubstrate
import RoundRobin
import System.IO.Unsafe (unsafePerformIO)
import System.Posix.IO
import System.Timeout (timeout)

main :: IO ()
main =
  substrateProgram
    [ expect "MVar" True (others newEmptyMVar takeMVar (`putMVar` ()))
    , expect "transaction" True (others (newTVarIO False) (\v -> atomically (readTVar v >>= check)) setTrue)
    , expect "delay" True (others (return ()) (\() -> threadDelay 20000) return)
    , expect "descriptor" True (others createPipe (threadWaitRead . fst) (\(_, w) -> void (fdWrite w "x")))
    , expect "throwTo" True throwing
    , expect "thunk" True thunks
    , expect "a thread that waits is killed" True killed
    , expect "timeout" (Nothing, Just 'a') timeouts
    , expect "many delays" (sum [1 .. 100 :: Int]) delays
    ]

setTrue :: TVar Bool -> IO ()
setTrue v = atomically (writeTVar v True)

-- A thread waits. Another one runs meanwhile, and has run for a while when it ends the wait.
others :: IO a -> (a -> IO ()) -> (a -> IO ()) -> IO Bool
others new wait end = do
  newScheduler
  object <- new
  turns <- newTVarIO (0 :: Int)
  fork (replicateM_ 10 (atomically (modifyTVar' turns (+ 1)) >> yield) >> end object)
  wait object
  (== 10) <$> readTVarIO turns

-- The target is masked until it has run for a while.
throwing :: IO Bool
throwing = do
  newScheduler
  caught <- newTVarIO False
  target <- newTVarIO Nothing
  ready <- newTVarIO False
  fork $ do
    t <- myThreadId
    atomically (writeTVar target (Just t))
    uninterruptibleMask_ (setTrue ready >> replicateM_ 10 yield)
      `catch` \e -> const (setTrue caught) (e :: AsyncException)
  waitFor (readTVar ready)
  readTVarIO target >>= mapM_ killThread
  waitFor (readTVar caught)
  readTVarIO caught

-- The evaluator is passive now and then.
thunks :: IO Bool
thunks = do
  newScheduler
  let n = unsafePerformIO (replicateM_ 10 yield >> return (10 :: Int))
  begun <- newTVarIO False
  fork (setTrue begun >> void (evaluate n))
  waitFor (readTVar begun)
  return (n == 10)
{-# NOINLINE thunks #-}

killed :: IO Bool
killed = do
  newScheduler
  m <- newEmptyMVar
  thread <- newEmptyMVar
  fork $ do
    myThreadId >>= putMVar thread
    threadDelay 1000000000 `catch` \e -> yield >> const (putMVar m ()) (e :: AsyncException)
  t <- takeMVar thread
  yield
  _ <- forkIO (killThread t)
  takeMVar m
  return True

timeouts :: IO (Maybe (), Maybe Char)
timeouts = do
  newScheduler
  m <- newEmptyMVar
  none <- timeout 2000 (takeMVar m)
  fork (yield >> putMVar m ())
  some <- timeout 10000000 (takeMVar m >> return 'a')
  return (none, some)

delays :: IO Int
delays = do
  newScheduler
  total <- newTVarIO 0
  left <- newTVarIO (100 :: Int)
  forM_ [1 .. 100] $ \i -> fork $ do
    threadDelay (1000 + (i * 7919) `mod` 100 * 20)
    atomically (modifyTVar' total (+ i) >> modifyTVar' left (subtract 1))
  atomically (readTVar left >>= check . (== 0))
  readTVarIO total
