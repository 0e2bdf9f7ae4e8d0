-- | Variables like those of "Control.Concurrent.MVar", at which threads wait by 'Hecaton.Substrate.switch' [SHMP14,
-- §4.2]. Each thread waits and goes on as its own scheduler says, so threads of different schedulers meet at them. A
-- scheduler of "Hecaton.Scheduler" runs its other threads meanwhile, which an 'Control.Concurrent.MVar.MVar' of @base@
-- would keep from running.
--
-- A lock for threads of any scheduler, and a producer and a consumer of two:
--
-- > import Control.Monad
-- > import Hecaton.MVar
-- > import Hecaton.Scheduler
-- > import qualified Hecaton.Scheduler.Fifo as Fifo
-- > import qualified Hecaton.Scheduler.Lifo as Lifo
-- >
-- > main :: IO ()
-- > main = do
-- >   output <- newMVar ()
-- >   place <- newEmptyMVar
-- >   done <- newEmptyMVar
-- >   let say text = withMVar output (\() -> putStrLn text)
-- >   producers <- Fifo.new
-- >   consumers <- Lifo.new
-- >   _ <- forkIn producers $ forM_ [1 .. 3 :: Int] (putMVar place)
-- >   _ <- forkIn consumers $ do
-- >     replicateM_ 3 (takeMVar place >>= say . show)
-- >     putMVar done ()
-- >   takeMVar done
--
-- [Fairness] Threads that take, and threads that put, are served in the order of their arrival. Readers come before
--   those that take, and all at once.
-- [Exceptions] Operations that wait can be interrupted, also by 'System.Timeout.timeout', and under 'mask'. Then they
--   have had no effect. Under 'mask', one that has got what it waits for is not interrupted any more.
-- [Priorities] A thread that runs an action by 'withMVar' or 'modifyMVar' (or a variant of these) has the greatest
--   priority of those that wait for the value, if its scheduler has it inherit ("Hecaton.Scheduler.Inheritance").
-- [Deadlock] A thread that waits for a variable which no other thread can reach gets 'BlockedIndefinitelyOnMVar'.
module Hecaton.MVar
  ( MVar,
    newMVar,
    newEmptyMVar,

    -- * Operations that wait
    takeMVar,
    putMVar,
    readMVar,
    swapMVar,

    -- * Operations that do not wait
    tryTakeMVar,
    tryPutMVar,
    tryReadMVar,
    isEmptyMVar,

    -- * Safe under exceptions
    withMVar,
    withMVarMasked,
    modifyMVar_,
    modifyMVar,
    modifyMVarMasked_,
    modifyMVarMasked,
  )
where

import Control.Concurrent.STM
import Control.Exception
import Control.Monad (when)
import Data.Maybe (isJust)
import Data.Sequence (Seq, ViewL (..), viewl, (<|), (|>))
import qualified Data.Sequence as Seq
import Hecaton.Scheduler (borrowerOf, switching)
import Hecaton.Scheduler.Inheritance
import Hecaton.Substrate

-- | A place for a value, which is empty or full.
newtype MVar a = MVar (TVar (Place a))
  deriving (Eq)

data Place a
  = -- | A value, and threads that wait to put others.
    Full a (Queue a)
  | -- | Threads that wait for a value, readers first; and the thread that has the value to put it back, if it inherits.
    Empty (Queue (Request a)) (Maybe Hold)

-- | What a thread waits for, and the hole for the answer.
data Request a = Request Kind (TVar (Maybe a))

data Kind
  = Read
  | Take
  | -- | Take, to put it back.
    Borrow

-- | Threads that wait. Those that have been interrupted stay until it is their turn, or the next purge.
data Queue w = Queue
  { waiting :: Seq (w, SCont),
    -- | The length up to which there is no purge.
    bound :: Int
  }

nobody :: Queue w
nobody = Queue Seq.empty leastBound

-- | Below it, a purge would not be worth its cost.
leastBound :: Int
leastBound = 16

-- | The queue with another thread. If it has doubled since the last time, those that are stale are dropped: so it is
-- as long as twice the threads that wait, and a wait has a constant cost.
withThread :: (Seq (w, SCont) -> Seq (w, SCont)) -> Queue w -> STM (Queue w)
withThread insert q
  | Seq.length (waiting q) < bound q = return q {waiting = insert (waiting q)}
  | otherwise = do
    live <- filterSeq (fmap not . isStale . snd) (waiting q)
    return (Queue (insert live) (max leastBound (2 * Seq.length live)))

filterSeq :: Monad m => (a -> m Bool) -> Seq a -> m (Seq a)
filterSeq holds = foldr (\x rest -> holds x >>= \h -> (if h then (x <|) else id) <$> rest) (return Seq.empty)

-- | The first thread that still waits, and the others.
firstWaiting :: Queue w -> STM (Maybe ((w, SCont), Queue w))
firstWaiting q = case viewl (waiting q) of
  EmptyL -> return Nothing
  first :< others -> do
    let rest = q {waiting = others}
    stale <- isStale (snd first)
    if stale then firstWaiting rest else return (Just (first, rest))

-- | An empty variable.
newEmptyMVar :: IO (MVar a)
newEmptyMVar = MVar <$> newTVarIO (Empty nobody Nothing)

-- | A full variable.
newMVar :: a -> IO (MVar a)
newMVar x = MVar <$> newTVarIO (Full x nobody)

-- | Does at once what need not wait for the variable: in a plain transaction, which costs less than a switch. If the
-- variable was not in the right state, or is not any more, the thread switches.
atOnce :: MVar a -> (Place a -> Bool) -> (Place a -> STM (Maybe b)) -> IO b -> IO b
atOnce (MVar place) serves now later = do
  seen <- readTVarIO place
  if serves seen then atomically (readTVar place >>= now) >>= maybe later return else later
{-# INLINE atOnce #-}

isFull :: Place a -> Bool
isFull now = case now of
  Full _ _ -> True
  Empty _ _ -> False

-- | A value that is there, or that another thread puts into the hole while this one waits.
await :: (TVar (Maybe a) -> SCont -> STM (Maybe a)) -> IO a
await look = do
  hole <- newTVarIO Nothing
  switching $ \s -> look hole s >>= \found -> case found of
    Just x -> writeTVar hole (Just x) >> return s
    Nothing -> dequeueAct s
  readTVarIO hole >>= maybe (await look) return

-- | Takes the value. While the variable is empty, the thread waits.
takeMVar :: MVar a -> IO a
takeMVar = takeFor Take

takeFor :: Kind -> MVar a -> IO a
takeFor kind m@(MVar place) = atOnce m isFull now (await later)
  where
    now (Full x putters) = Just x <$ refill place (ownSCont >>= holdFor kind) putters
    now (Empty _ _) = return Nothing
    later hole s = readTVar place >>= \found -> case found of
      Full x putters -> Just x <$ refill place (holdFor kind s) putters
      Empty q held -> Nothing <$ request place (|> (Request kind hole, s)) s q held

-- | The value, which stays. While the variable is empty, the thread waits.
readMVar :: MVar a -> IO a
readMVar m@(MVar place) = tryReadMVar m >>= maybe (await later) return
  where
    later hole s = readTVar place >>= \found -> case found of
      Full x _ -> return (Just x)
      Empty q held -> Nothing <$ request place ((Request Read hole, s) <|) s q held

-- | A thread waits for a value.
request ::
  TVar (Place a) ->
  (Seq (Request a, SCont) -> Seq (Request a, SCont)) ->
  SCont ->
  Queue (Request a) ->
  Maybe Hold ->
  STM ()
request place insert s q held = do
  longer <- withThread insert q
  writeTVar place (Empty longer held)
  when (isJust held) (lends place s)

-- | A thread that waits lends its rank to the one that has the value.
lends :: TVar (Place a) -> SCont -> STM ()
lends place s = borrowerOf s >>= mapM_ (waitFor holdNow s)
  where
    holdNow = readTVar place >>= \now -> return $ case now of
      Full _ _ -> Nothing
      Empty _ held -> held

-- | The thread gets the value.
holdFor :: Kind -> SCont -> STM (Maybe Hold)
holdFor kind s = case kind of
  Borrow -> borrowerOf s >>= mapM hold
  _ -> return Nothing

-- | Puts a value. While the variable is full, the thread waits.
putMVar :: MVar a -> a -> IO ()
putMVar m@(MVar place) x = atOnce m (not . isFull) now (switching later)
  where
    now (Empty q held) = Just <$> giveBack place x q held
    now (Full _ _) = return Nothing
    later s = readTVar place >>= \found -> case found of
      Empty q held -> s <$ giveBack place x q held
      Full y putters -> do
        withThread (|> (x, s)) putters >>= writeTVar place . Full y
        dequeueAct s

-- | The value has been taken: that of the next thread that puts comes in its place.
refill :: TVar (Place a) -> STM (Maybe Hold) -> Queue a -> STM ()
refill place held putters = do
  first <- firstWaiting putters
  case first of
    Nothing -> held >>= writeTVar place . Empty nobody
    Just ((x, s), others) -> writeTVar place (Full x others) >> enqueueAct s

-- | A value for those that wait. The thread that had one lets go.
giveBack :: TVar (Place a) -> a -> Queue (Request a) -> Maybe Hold -> STM ()
giveBack place x q held = mapM_ letGo held >> fill place x q

-- | A value for those that wait: for all readers, and one that takes.
fill :: TVar (Place a) -> a -> Queue (Request a) -> STM ()
fill place x q = do
  first <- firstWaiting q
  case first of
    Nothing -> writeTVar place (Full x nobody)
    Just ((Request kind hole, s), others) -> do
      writeTVar hole (Just x)
      case kind of
        Read -> enqueueAct s >> fill place x others
        _ -> do
          held <- holdFor kind s
          writeTVar place (Empty others held)
          when (isJust held) (mapM_ (lends place . snd) (waiting others))
          enqueueAct s

-- | Takes the value, if there is one.
tryTakeMVar :: MVar a -> IO (Maybe a)
tryTakeMVar (MVar place) = atomically $ do
  now <- readTVar place
  case now of
    Full x putters -> Just x <$ refill place (return Nothing) putters
    Empty _ _ -> return Nothing

-- | Puts a value, if the variable is empty. Says whether it was.
tryPutMVar :: MVar a -> a -> IO Bool
tryPutMVar (MVar place) x = atomically $ do
  now <- readTVar place
  case now of
    Empty q held -> True <$ giveBack place x q held
    Full _ _ -> return False

-- | The value, if there is one. It stays.
tryReadMVar :: MVar a -> IO (Maybe a)
tryReadMVar (MVar place) = do
  now <- readTVarIO place
  return $ case now of
    Full x _ -> Just x
    Empty _ _ -> Nothing

-- | Is it empty now?
isEmptyMVar :: MVar a -> IO Bool
isEmptyMVar = fmap (not . isJust) . tryReadMVar

-- | Takes the value, and puts another one.
swapMVar :: MVar a -> a -> IO a
swapMVar m new = mask_ $ do
  old <- takeMVar m
  putMVar m new
  return old

-- | Runs an action with the value, which is put back at the end, also after an exception.
withMVar :: MVar a -> (a -> IO b) -> IO b
withMVar m f = mask $ \restore -> holding m (restore . f)

-- | The same, with the action masked.
withMVarMasked :: MVar a -> (a -> IO b) -> IO b
withMVarMasked m f = mask_ (holding m f)

-- | The caller is masked.
holding :: MVar a -> (a -> IO b) -> IO b
holding m f = do
  x <- takeFor Borrow m
  result <- f x `onException` putMVar m x
  putMVar m x
  return result

-- | Changes the value. After an exception it is what it was.
modifyMVar_ :: MVar a -> (a -> IO a) -> IO ()
modifyMVar_ m f = modifyMVar m (fmap (\x -> (x, ())) . f)

-- | Changes the value, and returns something. After an exception the value is what it was.
modifyMVar :: MVar a -> (a -> IO (a, b)) -> IO b
modifyMVar m f = mask $ \restore -> changing m (\x -> restore (f x >>= evaluate))

-- | As 'modifyMVar_', with the action masked.
modifyMVarMasked_ :: MVar a -> (a -> IO a) -> IO ()
modifyMVarMasked_ m f = modifyMVarMasked m (fmap (\x -> (x, ())) . f)

-- | As 'modifyMVar', with the action masked.
modifyMVarMasked :: MVar a -> (a -> IO (a, b)) -> IO b
modifyMVarMasked m f = mask_ (changing m (\x -> f x >>= evaluate))

-- | The caller is masked.
changing :: MVar a -> (a -> IO (a, b)) -> IO b
changing m f = do
  x <- takeFor Borrow m
  (new, result) <- f x `onException` putMVar m x
  putMVar m new
  return result
