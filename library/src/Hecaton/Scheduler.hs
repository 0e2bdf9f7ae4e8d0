-- | Schedulers for threads. A program may have several of them, each with threads of its own, which meet at the
-- variables of "Hecaton.MVar" and of "Control.Concurrent.STM".
--
-- Three threads take turns, and @main@ waits for them:
--
-- > import Control.Monad
-- > import Hecaton.MVar
-- > import Hecaton.Scheduler
-- > import qualified Hecaton.Scheduler.RoundRobin as RoundRobin
-- >
-- > main :: IO ()
-- > main = do
-- >   scheduler <- RoundRobin.new
-- >   done <- newEmptyMVar
-- >   forM_ ["red", "green", "blue"] $ \name -> forkIn scheduler $ do
-- >     forM_ [1 .. 3 :: Int] $ \turn -> do
-- >       putStrLn (name ++ " " ++ show turn)
-- >       yield
-- >     putMVar done name
-- >   replicateM_ 3 (takeMVar done)
--
-- [Which thread runs] A scheduler runs one of its threads until that one yields, waits at a variable of
--   "Hecaton.MVar", migrates or ends. Then it chooses the next. The threads of the built-in scheduler, and of other
--   schedulers, have their turns beside it.
-- [Coming and going] A thread that is not made here, as @main@, uses 'withScheduler'. It must not end while it is one
--   of a scheduler: the HEC would be lost to the others.
-- [What blocks a scheduler] A thread that waits in the runtime keeps its scheduler waiting: in an 'MVar' of @base@, in
--   'GHC.Conc.retry', in 'Control.Concurrent.threadDelay', in a foreign call, or in 'throwTo' to a thread that is
--   masked. 'withScheduler' 'builtin' around such an action lets the other threads run.
-- [Exceptions] A thread that waits is reached by 'throwTo' as any other. It handles the exception at once, beside the
--   thread that its scheduler runs, and comes under its scheduler again where it next gives up the HEC.
-- [Processes] After 'System.Posix.Process.forkProcess', the child must make schedulers of its own.
--
-- Hecaton's runtime is needed. On another one, what uses a scheduler raises 'Hecaton.Substrate.NotOnHecaton'.
module Hecaton.Scheduler
  ( -- * Schedulers
    Scheduler,
    builtin,
    withScheduler,
    withSchedulerAs,

    -- * Threads
    forkIn,
    forkInAs,
    yield,
    migrate,
    migrateAs,

    -- * Writing a scheduler
    -- $writing
    Policy (..),
    newScheduler,
    Domain,
    newDomain,
    newSchedulerIn,
  )
where

import qualified Control.Concurrent as Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic
import Data.IORef
import Data.Sequence (Seq, ViewL (..), viewl, (|>))
import qualified Data.Sequence as Seq
import Foreign.StablePtr
import GHC.Conc (ThreadId, childHandler)
import GHC.IO (unsafeUnmask)
import Hecaton.Substrate
import System.IO.Unsafe (unsafePerformIO)

-- $writing
-- A scheduler is made of a 'Policy', which keeps the threads that can run and says which one is next. Last in, first
-- out:
--
-- > new :: IO (Scheduler ())
-- > new = do
-- >   stack <- newTVarIO []
-- >   newScheduler Policy
-- >     { usual = (),
-- >       arrive = return,
-- >       put = \() s -> modifyTVar' stack (s :),
-- >       next = readTVar stack >>= \threads -> case threads of
-- >         [] -> return Nothing
-- >         s : others -> writeTVar stack others >> return (Just s)
-- >     }
--
-- What is common to all schedulers is done here. A scheduler has a /host/: the thread that its HEC runs when there is
-- no other. The aux field of a thread tells its scheduler, what the policy keeps for it, and whether it has been chosen
-- to run. One that runs without having been chosen, because it handles an exception, chooses no other.

-- | What makes one scheduler different from another. @a@ is what a thread is forked with, a priority say, and @own@
-- what the policy keeps for each thread.
data Policy a own = Policy
  { -- | For threads that are forked without saying.
    usual :: a,
    -- | What to keep for a new thread.
    arrive :: a -> STM own,
    -- | The thread can run.
    put :: own -> SCont -> STM (),
    -- | Takes the thread that runs next. Stale ones are passed over by the caller.
    next :: STM (Maybe SCont)
  }

-- | A scheduler whose threads are forked with an @a@.
data Scheduler a = Scheduler
  { homeOf :: Home,
    -- | Makes a thread one of this scheduler.
    admit :: a -> SCont -> STM (),
    ordinary :: a
  }

-- | What threads know about their scheduler: who it is, and its activations.
data Home = Home
  { -- | What no other has, and what keeps its host.
    identity :: (IORef (), Used),
    choose :: DequeueAct,
    accept :: EnqueueAct
  }

instance Eq Home where
  h == i = identity h == identity i

-- | The aux field of a thread of a scheduler.
data Member = Member
  { scheduler :: Home,
    -- | Its scheduler has chosen it to run.
    chosen :: TVar Bool,
    kept :: Dynamic
  }

memberOf :: SCont -> STM (Maybe Member)
memberOf s = fromDynamic <$> getAux s

-- | The running thread's scheduler, and its aux field.
whereIAm :: IO (Home, Dynamic)
whereIAm = atomically $ do
  aux <- ownSCont >>= getAux
  return (maybe builtInHome scheduler (fromDynamic aux), aux)

-- * The HEC of a scheduler

-- | The HEC of a scheduler, or of several that share it: how its next thread is chosen, and what is reachable as long
-- as one of them is used.
data Domain = Domain DequeueAct Used

type Used = IORef ()

-- | Gives a HEC to a scheduler, or to several, whose next thread the transaction takes.
newDomain :: STM (Maybe SCont) -> IO Domain
newDomain takeNext = do
  idle <- newTVarIO Nothing
  let live = do
        s <- takeNext
        stale <- maybe (return False) isStale s
        if stale then live else return s
      dequeue s = do
        member <- memberOf s
        runs <- maybe (return True) (readTVar . chosen) member
        forM_ member $ \m -> writeTVar (chosen m) False
        if runs then live >>= maybe wakeHost begin else builtInDequeueAct s
      begin s = do
        member <- memberOf s
        forM_ member $ \m -> writeTVar (chosen m) True
        return s
      wakeHost = readTVar idle >>= maybe retry (\host -> writeTVar idle Nothing >> return host)
  host <- forkHost $ do
    setDequeueAct dequeue
    setEnqueueAct (const (return ()))
    forever . switch $ \me -> writeTVar idle (Just me) >> live >>= maybe retry begin
  used <- newIORef ()
  root <- newStablePtr host
  _ <- mkWeakIORef used (freeStablePtr root)
  return (Domain dequeue used)

-- | Makes a thread of the built-in scheduler. It ends when it is unreachable.
forkHost :: IO () -> IO ThreadId
forkHost body = Concurrent.forkIOWithUnmask $ \unmask -> unmask body `catch` unreachable
  where
    unreachable BlockedIndefinitelyOnSTM = return ()

-- | A scheduler with a HEC of its own.
newScheduler :: Typeable own => Policy a own -> IO (Scheduler a)
newScheduler policy = newDomain (next policy) >>= \domain -> newSchedulerIn domain policy

-- | A scheduler that runs on the HEC of others. What the domain was made with asks the policy for its 'next' thread.
newSchedulerIn :: Typeable own => Domain -> Policy a own -> IO (Scheduler a)
newSchedulerIn (Domain dequeue used) policy = do
  this <- newIORef ()
  let home = Home {identity = (this, used), choose = dequeue, accept = enqueue}
      enqueue s = do
        member <- memberOf s
        case member of
          Just m | scheduler m == home, Just own <- fromDynamic (kept m) -> put policy own s
          _ -> new (usual policy) s >> enqueue s
      new a s = do
        own <- arrive policy a
        isChosen <- newTVar False
        setAux s (toDyn (Member home isChosen (toDyn own)))
  return (Scheduler home new (usual policy))

-- * The built-in scheduler

-- | The scheduler of the runtime, whose threads need no others to give up their HECs. @main@ is a thread of it, and so
-- are those of 'Concurrent.forkIO'.
builtin :: Scheduler ()
builtin = Scheduler builtInHome (\() s -> setAux s (toDyn ())) ()

-- | Threads that have been made by another scheduler are started by a thread of the built-in one.
builtInHome :: Home
builtInHome = unsafePerformIO $ do
  this <- newIORef ()
  queue <- newTVarIO (Seq.empty :: Seq SCont)
  starter <- forkHost . forever . switch $ \me -> do
    threads <- readTVar queue
    case viewl threads of
      EmptyL -> retry
      s :< others -> do
        writeTVar queue others
        stale <- isStale s
        if stale then return me else enqueueAct me >> return s
  _ <- newStablePtr starter
  return (Home (this, this) builtInDequeueAct (\s -> modifyTVar' queue (|> s)))
{-# NOINLINE builtInHome #-}

-- * Threads

-- | Makes a thread of a scheduler, with what is usual there. Else it is as 'Concurrent.forkIO': it is masked as the
-- caller, and an exception that ends it is reported.
forkIn :: Scheduler a -> IO () -> IO ThreadId
forkIn s = forkInAs s (ordinary s)

-- | Makes a thread of a scheduler: with a priority, a deadline, or what else the scheduler asks for.
forkInAs :: Scheduler a -> a -> IO () -> IO ThreadId
forkInAs to a action
  | homeOf to == builtInHome = Concurrent.forkIO action
  | otherwise = do
      masking <- getMaskingState
      mask_ $ do
        (mine, _) <- whereIAm
        s <- inPlaceOf mine (newSCont (asMasked masking action `catch` childHandler >> finish))
        -- It begins masked. An exception reaches it before, because it is not given by 'enqueueAct', unless it is to be
        -- masked.
        atomically (admit to a s >> (if masking == Unmasked then accept (homeOf to) else enqueueAct) s)
        return (threadOf s)
  where
    inPlaceOf mine make
      | mine == homeOf to = make
      | otherwise = (enter (homeOf to) >> make) <* enter mine

asMasked :: MaskingState -> IO a -> IO a
asMasked masking = case masking of
  Unmasked -> unsafeUnmask
  MaskedInterruptible -> id
  MaskedUninterruptible -> uninterruptibleMask_

-- | The running thread has the activations of this scheduler from now on.
enter :: Home -> IO ()
enter h = setDequeueAct (choose h) >> setEnqueueAct (accept h)

-- | The thread gives its HEC to others for good. It returns when nothing refers to the thread any more, or when the
-- thread is killed.
finish :: IO ()
finish = do
  left <- newTVarIO False
  let leave = switch (\s -> writeTVar left True >> dequeueAct s) `catch` interrupted
      interrupted e = readTVarIO left >>= \hasLeft -> unless hasLeft (const leave (e :: SomeException))
  leave

-- | Other threads of the scheduler run first.
yield :: IO ()
yield = do
  (mine, _) <- whereIAm
  if mine == builtInHome then Concurrent.yield else switch (\s -> enqueueAct s >> dequeueAct s)

-- | The running thread becomes one of another scheduler, with what is usual there.
migrate :: Scheduler a -> IO ()
migrate to = migrateAs to (ordinary to)

-- | The running thread becomes one of another scheduler. To migrate to the own scheduler is to arrive there anew.
migrateAs :: Scheduler a -> a -> IO ()
migrateAs to a = moveTo (homeOf to) (admit to a)

-- | Moves the running thread. The transaction makes it one of its new scheduler.
moveTo :: Home -> (SCont -> STM ()) -> IO ()
moveTo to arriving = mask $ \restore -> do
  (from, _) <- whereIAm
  unless (from == builtInHome && to == builtInHome) $ do
    enter to
    restore (switch (\s -> choose from s >>= \other -> arriving s >> enqueueAct s >> return other)) `onException` do
      (now, _) <- whereIAm
      enter now

-- | Runs an action as a part of another scheduler. Then the thread is one of its former scheduler again.
withScheduler :: Scheduler a -> IO b -> IO b
withScheduler s = withSchedulerAs s (ordinary s)

-- | Runs an action as a part of another scheduler, with a priority, a deadline, or what else the scheduler asks for.
withSchedulerAs :: Scheduler a -> a -> IO b -> IO b
withSchedulerAs s a action = mask $ \restore -> do
  (former, aux) <- whereIAm
  let back = moveTo former (\me -> setAux me aux)
  result <- (restore (migrateAs s a) >> restore action) `onException` back
  back
  return result
