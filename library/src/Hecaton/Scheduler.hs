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
-- [Which thread runs] All schedulers share the HECs that no other user of "Hecaton.Substrate" has. On each of them a
--   thread runs until it yields, waits, migrates or ends, or its time slice is over. Then the next scheduler that has a
--   thread which can run chooses one. So the threads of one scheduler run on all HECs, unless it was made by
--   'newSchedulerOn'. The threads of the built-in scheduler have their turns beside them.
-- [Time slices] are those of the runtime: 20 ms, or what @+RTS -C@ says. At the end of one, a thread can run as if it
--   had yielded.
-- [Waiting] While a thread waits, in the runtime or at a variable of "Hecaton.MVar", others run in its place. A thread
--   in a foreign call keeps its HEC until the next tick of the runtime's clock (10 ms).
-- [Coming and going] The threads that a thread makes by 'Concurrent.forkIO' belong to its scheduler, with what is usual
--   there. A thread that comes from the built-in scheduler, as @main@, uses 'withScheduler'. It must not end while it
--   is one of another scheduler: the HEC would be lost to the others.
-- [Exceptions] A thread that waits is reached by 'throwTo' as any other. It handles the exception when its scheduler
--   chooses it.
-- [Processes] After 'System.Posix.Process.forkProcess', the child must make schedulers of its own.
--
-- Hecaton's runtime is needed. On another one, what uses a scheduler raises 'Hecaton.Substrate.NotOnHecaton'.
module Hecaton.Scheduler
  ( -- * Schedulers
    Scheduler,
    builtin,
    inRunQueue,
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
    newSchedulerOn,
    Domain,
    newDomain,
    newSchedulerIn,
    borrowerOf,
    switching,
  )
where

import qualified Control.Concurrent as Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Dynamic
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Data.Sequence (Seq, ViewL (..), viewl, (|>))
import qualified Data.Sequence as Seq
import Foreign.StablePtr
import GHC.Conc (ThreadId, ThreadStatus (..), childHandler, threadStatus)
import Hecaton.RunQueue
  ( Key,
    RunQueue,
    currentQueue,
    forkBuiltIn,
    forkInQueueAs,
    getKey,
    joinQueueAs,
    leaveQueue,
  )
import Hecaton.Scheduler.Inheritance (Borrower, resumes, waitForThunk)
import GHC.Stack (HasCallStack, SrcLoc, callStack, getCallStack, srcLocModule)
import Hecaton.Substrate
import Hecaton.Substrate.Group
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
-- What is common to all schedulers is done here. The aux field of a thread tells its scheduler, and how the policy puts
-- it. All threads have the same dequeue activation, which takes a thread of the next scheduler that has one. There is
-- an enqueue activation for each scheduler, so that a thread whose aux field is @()@, because an action of another
-- library has forked it, comes to the scheduler of the thread that has made it.

-- | What makes one scheduler different from another. @a@ is what a thread is forked with, a priority say, and @own@
-- what the policy keeps for each thread.
data Policy a own
  = Policy
      { -- | For threads that are forked without saying.
        usual :: a,
        -- | What to keep for a new thread.
        arrive :: a -> STM own,
        -- | The thread can run.
        put :: own -> SCont -> STM (),
        -- | Takes the thread that runs next. Stale ones are passed over by the caller.
        next :: STM (Maybe SCont)
      }
  | -- | One that is told when a HEC is free, and what a thread borrows.
    WatchingPolicy
      { usual :: a,
        arrive :: a -> STM own,
        put :: own -> SCont -> STM (),
        next :: STM (Maybe SCont),
        -- | The thread, which was chosen for this HEC, has given it up, or is about to. If it can run on, it has been
        -- put before, and may run elsewhere already.
        gone :: own -> SCont -> STM (),
        -- | Has it ended time slices to get HECs, and not got all of them? Then it is asked before other schedulers.
        insists :: STM Bool,
        -- | If the thread inherits from those that wait for it: "Hecaton.Scheduler.Inheritance".
        borrower :: own -> Maybe Borrower
      }

-- | A scheduler whose threads are forked with an @a@.
data Scheduler a
  = Scheduler
      { homeOf :: Home,
        -- | Makes a thread one of this scheduler.
        admit :: a -> SCont -> STM (),
        ordinary :: a
      }
  | -- | The threads are those of the built-in scheduler in a queue of the runtime.
    InRunQueue
      { queueOf :: RunQueue,
        keyFrom :: a -> Key,
        ordinary :: a
      }

-- | What threads know about their scheduler: what no other has, its group, and its enqueue activation.
data Home = Home {identity :: IORef (), group :: Maybe Group, accept :: EnqueueAct}

instance Eq Home where
  h == i = identity h == identity i

activationsIn :: Home -> Activations
activationsIn home = maybe Activations GroupActivations (group home) nextOf (accept home)

-- | The aux field of a thread of a scheduler.
data Member = Member
  { scheduler :: Home,
    -- | The policy's 'put' for the thread.
    whenReady :: SCont -> STM (),
    place :: Place,
    borrows :: Maybe Borrower
  }

memberOf :: SCont -> STM (Maybe Member)
memberOf s = fromDynamic <$> getAux s

-- | What a lock needs of a thread, if its scheduler has it inherit from those that wait for it.
borrowerOf :: SCont -> STM (Maybe Borrower)
borrowerOf s = (>>= borrows) <$> memberOf s

-- | The running thread's scheduler, and its aux field.
whereIAm :: IO (Home, Dynamic)
whereIAm = do
  aux <- atomically (ownSCont >>= getAux)
  home <- current (maybe builtInHome scheduler (fromDynamic aux))
  return (home, aux)

-- | The scheduler, or the built-in one if it is ejected.
current :: Home -> IO Home
current home = do
  isGone <- maybe (return False) isEjected (group home)
  return (if isGone then builtInHome else home)

-- | The group of the dequeue activation.
hostsGroup :: Group
hostsGroup = unsafePerformIO (newGroup "Hecaton.Scheduler" Nothing usualPromise {restTime = 0})
{-# NOINLINE hostsGroup #-}

-- * HECs

-- | The HECs of all schedulers. Each has a /host/, the thread that it runs when there is no other.
data HECs = HECs
  { -- | Schedulers that may have threads which can run. The first one is asked next.
    asked :: TVar (Seq Domain),
    -- | The hosts that are passive, by the numbers of their HECs.
    hosts :: TVar (IntMap.IntMap (TVar (Maybe SCont))),
    -- | Hosts whose first time slice ended before they knew their HECs.
    lateHosts :: TVar [SCont],
    -- | For which number of HECs hosts have been started.
    served :: TVar Int,
    aHost :: TVar (Maybe ThreadId)
  }

hecs :: HECs
hecs = unsafePerformIO $ do
  all' <- HECs <$> newTVarIO Seq.empty <*> newTVarIO IntMap.empty <*> newTVarIO [] <*> newTVarIO 0 <*> newTVarIO Nothing
  -- The hosts wait for its variables.
  _ <- newStablePtr all'
  return all'
{-# NOINLINE hecs #-}

-- | Starts a host on each HEC that is idle, unless that has been done since there are as many HECs.
startHosts :: IO ()
startHosts = do
  n <- getNumHECs
  before <- readTVarIO (served hecs)
  when (before < n) . mask_ $ do
    atomically (writeTVar (served hecs) n)
    startHost `onException` atomically (writeTVar (served hecs) before)
  where
    startHost = do
      host <- newHost
      idle <- try (runOnIdleHEC host)
      case idle of
        Right () -> atomically (writeTVar (aHost hecs) (Just (threadOf host))) >> startHost
        Left NoIdleHEC -> readTVarIO (aHost hecs) >>= maybe (throwIO NoIdleHEC) (const (return ()))
        Left e -> throwIO e

newHost :: IO SCont
newHost = do
  me <- newTVarIO Nothing
  isKnown <- newTVarIO False
  let ready s = do
        known <- readTVar isKnown
        if known then writeTVar me (Just s) else modifyTVar' (lateHosts hecs) (s :)
  newMember (GroupActivations hostsGroup nextOf ready) $ do
    atomically $ do
      writeTVar isKnown True
      getCurrentHEC >>= \hec -> modifyTVar' (hosts hecs) (IntMap.insert hec me)
    forever (switching (\s -> writeTVar me (Just s) >> nextThread >>= maybe retry return) `catch` ignored)
  where
    ignored :: SomeException -> IO ()
    ignored _ = return ()

-- | In a child process there are no hosts: what is left of the parent's schedulers is dropped.
startAnewInChild :: IO ()
startAnewInChild = do
  host <- readTVarIO (aHost hecs)
  status <- mapM threadStatus host
  when (status `elem` [Just ThreadFinished, Just ThreadDied]) . atomically $ do
    writeTVar (asked hecs) Seq.empty
    writeTVar (hosts hecs) IntMap.empty
    writeTVar (lateHosts hecs) []
    writeTVar (served hecs) 0
    writeTVar (aHost hecs) Nothing

-- | The dequeue activation: a thread that can run, or the HEC's host.
nextOf :: DequeueAct
nextOf s = do
  memberOf s >>= mapM_ leaves
  found <- nextThread
  case found of
    Just t -> return t
    Nothing -> do
      host <- IntMap.lookup <$> getCurrentHEC <*> readTVar (hosts hecs)
      maybe lateHost readTVar host >>= maybe (builtInDequeueAct s) return
  where
    leaves member = do
      may <- maybe (return True) onBehalfOf (group (scheduler member))
      when may $ leave (place member) >> mapM_ lendToEvaluator (borrows member)
    lendToEvaluator b = do
      evaluator <- awaits s
      forM_ evaluator (borrowerOf >=> mapM_ (\other -> waitForThunk other s b))

-- | Takes a host that has no HEC yet. A HEC without a host has lost it so.
lateHost :: STM (Maybe SCont)
lateHost = do
  late <- readTVar (lateHosts hecs)
  case late of
    [] -> return Nothing
    host : others -> Just host <$ writeTVar (lateHosts hecs) others

-- | Takes a thread of the first scheduler that has one. The others have their turns before it has the next.
nextThread :: STM (Maybe SCont)
nextThread = do
  domains <- readTVar (asked hecs)
  case viewl domains of
    EmptyL -> return Nothing
    domain :< others -> do
      found <- takeFrom domain
      case found of
        Just _ -> do
          again <- blaming domain (isFirst domain)
          unless (again || Seq.null others) (writeTVar (asked hecs) (others |> domain))
          return found
        Nothing -> do
          writeTVar (asked hecs) others
          writeTVar (isAsked domain) False
          nextThread

-- | A policy has raised an exception.
data PolicyFailed = PolicyFailed Group SomeException

instance Show PolicyFailed where
  showsPrec n (PolicyFailed _ e) = showsPrec n e

instance Exception PolicyFailed where
  displayException (PolicyFailed _ e) = displayException e

-- | Runs what a policy says.
blaming :: Domain -> STM a -> STM a
blaming domain act = act `catchSTM` (throwSTM . PolicyFailed (groupOf domain))

-- | A 'switch' that may choose a thread of any scheduler. Where a policy fails, its scheduler is ejected, and others
-- are asked.
switching :: (SCont -> STM SCont) -> IO ()
switching f = switch f `catch` \(PolicyFailed its e) -> failed its e >> switching f

-- | Schedulers that are asked for threads together, and share the HECs that they may use.
data Domain = Domain
  { takeNext :: STM (Maybe SCont),
    groupOf :: Group,
    -- | After a thread has been taken: is the domain asked again before the others?
    isFirst :: STM Bool,
    isAsked :: TVar Bool,
    -- | How many more HECs may run its threads, if there is a limit.
    free :: Maybe (TVar Int)
  }

-- | A domain whose threads the transaction takes, and for how many HECs at once. If the transaction fails, the
-- schedulers of the domain are ejected.
newDomain :: HasCallStack => Maybe Int -> STM (Maybe SCont) -> IO Domain
newDomain = makeDomain (return False)

makeDomain :: HasCallStack => STM Bool -> Maybe Int -> STM (Maybe SCont) -> IO Domain
makeDomain first limit taking = do
  startAnewInChild
  ofIt <- newGroup (maker (getCallStack callStack)) (Just hostsGroup) usualPromise
  Domain taking ofIt first <$> newTVarIO False <*> mapM (newTVarIO . max 1) limit

-- | The module outside this one that makes a scheduler.
maker :: [(String, SrcLoc)] -> String
maker calls = case [m | (_, call) <- calls, let m = srcLocModule call, m /= "Hecaton.Scheduler"] of
  m : _ -> m
  [] -> ""

-- | A domain of one scheduler.
domainOf :: HasCallStack => Policy a own -> Maybe Int -> IO Domain
domainOf policy limit = makeDomain first limit (next policy)
  where
    first = case policy of
      Policy {} -> return False
      WatchingPolicy {} -> insists policy

-- | The domain has threads that may run.
ask :: Domain -> STM ()
ask domain = do
  already <- readTVar (isAsked domain)
  unless already $ writeTVar (isAsked domain) True >> modifyTVar' (asked hecs) (|> domain)

-- | Takes a thread that is not stale.
takeFrom :: Domain -> STM (Maybe SCont)
takeFrom domain = do
  isOpen <- maybe (return True) (fmap (> 0) . readTVar) (free domain)
  may <- onBehalfOf (groupOf domain)
  if isOpen && may then live else return Nothing
  where
    live = do
      found <- blaming domain (takeNext domain)
      case found of
        Nothing -> return Nothing
        Just s -> isStale s >>= \stale -> if stale then live else found <$ counted s
    -- Threads of a domain without a limit have no place.
    counted s = forM_ (free domain) $ \_ -> memberOf s >>= mapM_ (enter . place)

-- | What is to be done when a thread gets a HEC, and when it gives it up.
data Place = Place {enter :: STM (), leave :: STM ()}

anywhere :: Place
anywhere = Place (return ()) (return ())

-- | With what else to do when the thread gives up a HEC.
placeIn :: Domain -> STM () -> STM Place
placeIn domain leaving = maybe (return (anywhere {leave = leaving})) limited (free domain)
  where
    limited left = do
      -- How often the thread was chosen, less how often it has given up a HEC. After a time slice it may be chosen
      -- first.
      held <- newTVar (0 :: Int)
      return
        Place
          { enter = modifyTVar' left (subtract 1) >> modifyTVar' held (+ 1),
            leave = do
              leaving
              holds <- (> 0) <$> readTVar held
              when holds $ modifyTVar' left (+ 1) >> modifyTVar' held (subtract 1) >> ask domain
          }

-- * Making schedulers

-- | A scheduler whose threads run on all HECs.
newScheduler :: HasCallStack => Policy a own -> IO (Scheduler a)
newScheduler policy = domainOf policy Nothing >>= \domain -> newSchedulerIn domain policy

-- | A scheduler whose threads run on at most this number of HECs at once.
newSchedulerOn :: HasCallStack => Int -> Policy a own -> IO (Scheduler a)
newSchedulerOn n policy = domainOf policy (Just n) >>= \domain -> newSchedulerIn domain policy

-- | A scheduler of a domain. What the domain was made with asks the policy for its 'next' thread.
newSchedulerIn :: Domain -> Policy a own -> IO (Scheduler a)
newSchedulerIn domain policy = do
  this <- newIORef ()
  let home = Home {identity = this, group = Just (groupOf domain), accept = enqueue}
      enqueue s = memberOf s >>= maybe (new (usual policy) s >>= \m -> whenReady m s) (\m -> whenReady m s)
      new a s = do
        own <- arrive policy a
        placed <- placeIn domain (leaving own s)
        let ready t = mapM_ resumes (borrowing own) >> put policy own t >> ask domain
            member = Member home ready placed (borrowing own)
        setAux s (toDyn member)
        return member
      leaving own s = case policy of
        Policy {} -> return ()
        WatchingPolicy {} -> gone policy own s
      borrowing own = case policy of
        Policy {} -> Nothing
        WatchingPolicy {} -> borrower policy own
  return (Scheduler home (\a s -> void (new a s)) (usual policy))

-- | The scheduler of the runtime, whose threads need no others to give up their HECs. @main@ is a thread of it, unless
-- @+RTS --scheduler@ names another one.
builtin :: Scheduler ()
builtin = Scheduler builtInHome (\() s -> setAux s (toDyn ())) ()

-- | A scheduler that names a queue of the runtime instead of a policy. Its threads are forked with their keys. They
-- block and wake in the runtime, so that costs what it costs in the built-in scheduler.
inRunQueue :: RunQueue -> Scheduler Key
inRunQueue queue = InRunQueue queue id 0

builtInHome :: Home
builtInHome = unsafePerformIO $ do
  this <- newIORef ()
  return (Home this Nothing (const (return ())))
{-# NOINLINE builtInHome #-}

-- * Threads

-- | Makes a thread of a scheduler, with what is usual there. Else it is as 'Concurrent.forkIO': it is masked as the
-- caller, and an exception that ends it is reported.
forkIn :: Scheduler a -> IO () -> IO ThreadId
forkIn s = forkInAs s (ordinary s)

-- | Makes a thread of a scheduler: with a priority, a deadline, or what else the scheduler asks for.
forkInAs :: Scheduler a -> a -> IO () -> IO ThreadId
forkInAs InRunQueue {queueOf = queue, keyFrom = key} a action = forkInQueueAs queue (key a) action
forkInAs to a action = do
  home <- current (homeOf to)
  if home == builtInHome then forkBuiltIn action else forkMember
  where
    forkMember = do
      startHosts
      s <- newMember (activationsIn (homeOf to)) (action `catch` childHandler)
      atomically (admit to a s >> enqueueAct s)
      return (threadOf s)

-- | Other threads of the scheduler run first.
yield :: IO ()
yield = do
  (mine, _) <- whereIAm
  if mine == builtInHome then Concurrent.yield else switching (\s -> enqueueAct s >> dequeueAct s)

-- | The running thread becomes one of another scheduler, with what is usual there.
migrate :: Scheduler a -> IO ()
migrate to = migrateAs to (ordinary to)

-- | The running thread becomes one of another scheduler. To migrate to the own scheduler is to arrive there anew.
migrateAs :: Scheduler a -> a -> IO ()
migrateAs InRunQueue {queueOf = queue, keyFrom = key} a = outside (joinQueueAs queue (key a))
migrateAs to a = moveTo (homeOf to) (admit to a)

-- | The running thread becomes one of the built-in scheduler, with what the action says there.
outside :: IO () -> IO ()
outside next' = mask_ $ moveTo builtInHome (admit builtin ()) >> next'

-- | Moves the running thread. The transaction makes it one of its new scheduler.
moveTo :: Home -> (SCont -> STM ()) -> IO ()
moveTo wanted arriving = mask $ \restore -> do
  (from, _) <- whereIAm
  to <- current wanted
  queue <- ownQueue
  mapM_ (const leaveQueue) queue
  unless (from == builtInHome && to == builtInHome) $ do
    unless (to == builtInHome) startHosts
    setNextActivations (Just (if to == builtInHome then Nothing else Just (activationsIn to)))
    restore (switching (\s -> dequeueAct s <* (become to s >> enqueueBy (accept to) s)))
      -- It may have moved before the exception.
      `onException` (setNextActivations Nothing >> rejoin queue)
  where
    become to s = if to == wanted then arriving s else setAux s (toDyn ())

-- | The queue of the running thread, and its key there.
ownQueue :: IO (Maybe (RunQueue, Key))
ownQueue = currentQueue >>= mapM (\queue -> (,) queue <$> getKey)

rejoin :: Maybe (RunQueue, Key) -> IO ()
rejoin = mapM_ (uncurry joinQueueAs)

-- | Runs an action as a part of another scheduler. Then the thread is one of its former scheduler again.
withScheduler :: Scheduler a -> IO b -> IO b
withScheduler s = withSchedulerAs s (ordinary s)

-- | Runs an action as a part of another scheduler, with a priority, a deadline, or what else the scheduler asks for.
withSchedulerAs :: Scheduler a -> a -> IO b -> IO b
withSchedulerAs s a action = mask $ \restore -> do
  (former, aux) <- whereIAm
  queue <- ownQueue
  let back = moveTo former (\me -> setAux me aux) >> rejoin queue
  result <- (restore (migrateAs s a) >> restore action) `onException` back
  back
  return result
