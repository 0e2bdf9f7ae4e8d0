-- A thread of a round robin that blocks in the runtime leaves its HEC to others of its scheduler, and goes back to the
-- scheduler when it is woken.
-- ghc: -O -threaded
-- needs: hecaton
import Control.Concurrent (forkIO, forkOn, killThread, myThreadId, newEmptyMVar, putMVar, takeMVar, threadDelay, threadWaitRead)
import qualified Control.Concurrent as Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic (fromDynamic, toDyn)
import Data.IORef
import Foreign.C.Types (CInt (..), CUInt (..))
import GHC.Conc (unsafeIOToSTM)
import Hecaton.Substrate
import Needing
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
    , expect "foreign call" True (others (return ()) (\() -> void (usleep 200000)) return)
    , expect "throwTo" True throwing
    , expect "thunk" True thunks
    , expect "a thread that waits is killed" True killed
    , expect "timeout" (Nothing, Just 'a') timeouts
    , expect "many delays" (sum [1 .. 100 :: Int]) delays
    , expect "ticks" True ticks
    , expect "yield" True yields
    , expect "a tick in a transaction" (True, 1 :: Int) inTransaction
    , expect "an activation takes a thunk from a passive thread" True stolen
    , expect "and waits for one that does more than evaluate" True awaited
    , expect "a stale choice" True stale
    , expect "forkIO" (sum [1 .. 100 :: Int]) forks
    , expect "forkOn" (sum [1 .. 100 :: Int]) pinned
    , expect "the aux field of a new thread" True freshAux
    , expect "a choice that waits undoes no enqueue" True moved
    ]

foreign import ccall safe usleep :: CUInt -> IO CInt

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
  forkBuiltIn (killThread t)
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

-- Runs, and allocates, until the condition holds.
runUntil :: IO Bool -> IO ()
runUntil condition = condition >>= \holds -> unless holds (newIORef () >> runUntil condition)

computeUntil :: TVar Bool -> IO ()
computeUntil = runUntil . readTVarIO

-- Two threads that compute and do not switch.
ticks :: IO Bool
ticks = do
  newScheduler
  this <- newTVarIO False
  other <- newTVarIO False
  fork (setTrue other >> computeUntil this >> setTrue other)
  computeUntil other
  atomically (writeTVar other False)
  setTrue this
  computeUntil other
  return True

yields :: IO Bool
yields = do
  newScheduler
  v <- newTVarIO False
  fork (setTrue v)
  let wait n = readTVarIO v >>= \set -> if set || n == (0 :: Int) then return set else Concurrent.yield >> wait (n - 1)
  wait 10

-- Others run in the middle of a transaction, which goes on and is not repeated.
inTransaction :: IO (Bool, Int)
inTransaction = do
  newScheduler
  begun <- newIORef (0 :: Int)
  other <- newIORef False
  fork (writeIORef other True)
  v <- newTVarIO (0 :: Int)
  atomically $ do
    unsafeIOToSTM (modifyIORef begun (+ 1))
    modifyTVar' v (+ 1)
    unsafeIOToSTM (runUntil (readIORef other))
  (,) <$> readIORef other <*> readIORef begun

stolen :: IO Bool
stolen = do
  let n = length (filter even [1 .. 8000000])
  needing n
  done <- newTVarIO False
  fork (setTrue done)
  -- It is preempted.
  _ <- evaluate n
  computeUntil done
  return (n == 4000000)
{-# NOINLINE stolen #-}

awaited :: IO Bool
awaited = do
  passed <- newTVarIO False
  let n = unsafePerformIO ((evaluate (length (filter even [1 .. 8000000])) `catch` \e -> throwIO (e :: ErrorCall)) <* setTrue passed)
  needing n
  done <- newTVarIO False
  fork (setTrue done)
  _ <- evaluate n
  computeUntil done
  -- It may run beside the slot.
  yield
  return (n == 4000000)
{-# NOINLINE awaited #-}

forks :: IO Int
forks = do
  newScheduler
  total <- newTVarIO 0
  done <- newEmptyMVar
  forM_ [1 .. 100] $ \i -> forkIO $ do
    when (i `mod` 3 == 0) yield
    when (i `mod` 5 == 0) (void (evaluate (1 `div` (0 :: Int))) `catch` \e -> const (return ()) (e :: ArithException))
    atomically (modifyTVar' total (+ i))
    when (i `mod` 10 == 0) (void (forkIO (putMVar done ())))
  replicateM_ 10 (takeMVar done)
  atomically (readTVar total >>= check . (== sum [1 .. 100]))
  readTVarIO total

pinned :: IO Int
pinned = do
  newScheduler
  total <- newTVarIO 0
  forM_ [1 .. 100] $ \i -> forkOn i (yield >> atomically (modifyTVar' total (+ i)))
  atomically (readTVar total >>= check . (== sum [1 .. 100]))
  readTVarIO total

freshAux :: IO Bool
freshAux = do
  newScheduler
  switch (\s -> setAux s (toDyn 'x') >> return s)
  found <- newEmptyMVar
  _ <- forkIO (atomically (ownSCont >>= getAux) >>= putMVar found)
  (== Just ()) . fromDynamic <$> takeMVar found

-- The thread chooses an SCont of its own that has been used.
stale :: IO Bool
stale = do
  newScheduler
  used <- atomically ownSCont
  fork (return ())
  yield
  switch (\s -> enqueueAct s >> return used)
  atomically (isStale used)

-- Threads go where the activation that chooses does not look. Another thread moves them.
moved :: IO Bool
moved = do
  arrived <- newTVarIO []
  ready <- newTVarIO []
  setDequeueAct (\_ -> takeFirst ready)
  setEnqueueAct (\s -> modifyTVar' arrived (++ [s]))
  forkBuiltIn . forever . atomically $ do
    threads <- readTVar arrived
    check (not (null threads))
    writeTVar arrived []
    modifyTVar' ready (++ threads)
  wakesAndWaits (return ())

takeFirst :: TVar [SCont] -> STM SCont
takeFirst queue = readTVar queue >>= \q -> case q of [] -> retry; s : rest -> s <$ writeTVar queue rest

-- Another thread waits for this one, which wakes it after some action and waits for it in turn.
wakesAndWaits :: IO () -> IO Bool
wakesAndWaits before = do
  m <- newEmptyMVar
  done <- newEmptyMVar
  fork (takeMVar m >> putMVar done True)
  yield
  before
  putMVar m ()
  takeMVar done
