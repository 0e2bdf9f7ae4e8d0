{-# LANGUAGE RankNTypes #-}

-- Programs with variables, for Hecaton.MVar and for the MVars of base.
module MVarPrograms (mvarPrograms) where

import Control.Concurrent (ThreadId, forkIO, forkIOWithUnmask, killThread, mkWeakThreadId, threadDelay)
import qualified Control.Concurrent.MVar as Base
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Maybe (isJust)
import Hecaton.MVar (MVar)
import qualified Hecaton.MVar as Ours
import Hecaton.Scheduler
import qualified Hecaton.Scheduler.Fifo as Fifo
import LibrarySchedulers
import OnSubstrate
import System.Mem (performMajorGC)
import System.Mem.Weak (deRefWeak)
import System.Timeout (timeout)
import Test.QuickCheck
import Test.QuickCheck.Random (mkQCGen)

-- What both kinds of variables have.
data Kind v = Kind
  { new :: forall a. IO (v a)
  , newFull :: forall a. a -> IO (v a)
  , take' :: forall a. v a -> IO a
  , put' :: forall a. v a -> a -> IO ()
  , read' :: forall a. v a -> IO a
  , swap :: forall a. v a -> a -> IO a
  , tryTake :: forall a. v a -> IO (Maybe a)
  , tryPut :: forall a. v a -> a -> IO Bool
  , tryRead :: forall a. v a -> IO (Maybe a)
  , isEmpty :: forall a. v a -> IO Bool
  , with :: forall a b. v a -> (a -> IO b) -> IO b
  , modify :: forall a b. v a -> (a -> IO (a, b)) -> IO b
  , modify_ :: forall a. v a -> (a -> IO a) -> IO ()
  }

base :: Kind Base.MVar
base =
  Kind Base.newEmptyMVar Base.newMVar Base.takeMVar Base.putMVar Base.readMVar Base.swapMVar Base.tryTakeMVar
    Base.tryPutMVar Base.tryReadMVar Base.isEmptyMVar Base.withMVar Base.modifyMVar Base.modifyMVar_

ours :: Kind MVar
ours =
  Kind Ours.newEmptyMVar Ours.newMVar Ours.takeMVar Ours.putMVar Ours.readMVar Ours.swapMVar Ours.tryTakeMVar
    Ours.tryPutMVar Ours.tryReadMVar Ours.isEmptyMVar Ours.withMVar Ours.modifyMVar Ours.modifyMVar_

mvarPrograms :: IO ()
mvarPrograms =
  substrateProgram
    [ expect "random operations of one thread" "same" (holdsFor 100 sameAsBase)
    , both "takers are served in order" "abc" takersInOrder
    , both "putters are served in order" "0123" puttersInOrder
    , both "readers come first, and all" "rrt" readersFirst
    , both "a hand-over of values" (sum [1 .. 200 :: Int]) handOver
    , both "a killed taker leaves the value to the next" "killed, b" killedTaker
    , both "a killed putter puts nothing" ("killed", Just 'a', Nothing) killedPutter
    , both "time limits" (Nothing, Nothing, Just 'v', True) timeLimits
    , both "withMVar puts back after an exception" ("error", Just 5) putsBack
    , both "modifyMVar changes, or not" ("error", Just 6, 'r') changes
    , both "an interrupted withMVar has not taken" (Just 'x') interruptedWith
    , both "a thread that waits for what is unreachable" True unreachable
    , both "increments of many threads, some killed" True increments
    , expect "threads of every scheduler meet" (Just 11) meeting
    , expect "a lock among schedulers" [] (forAll' lockedBeside)
    , expect "a scheduler runs its other threads meanwhile" [] (forAll' othersRun)
    , expect "those that were interrupted are dropped" True purged
    , expect "a mask protects what has been given" "given, killed" givenUnderMask
    ]

both :: (Eq a, Show a) => String -> a -> (forall v. Kind v -> IO a) -> Check
both name expected program = expect name (expected, expected) ((,) <$> program base <*> program ours)

holdsFor :: Testable p => Int -> p -> IO String
holdsFor runs property' = do
  answer <- quickCheckWithResult stdArgs {replay = Just (mkQCGen 14, 0), maxSuccess = runs, chatty = False} property'
  return (if isSuccess answer then "same" else output answer)

data Operation = Take | Put Int | Read | TryTake | TryPut Int | TryRead | IsEmpty | Swap Int | Add Int | Fail
  deriving (Show)

instance Arbitrary Operation where
  arbitrary =
    oneof
      [ pure Take, Put <$> arbitrary, pure Read, pure TryTake, TryPut <$> arbitrary, pure TryRead, pure IsEmpty
      , Swap <$> arbitrary, Add <$> arbitrary, pure Fail
      ]

-- Those that would wait are left out.
sameAsBase :: [Operation] -> Property
sameAsBase operations = ioProperty ((===) <$> answers base <*> answers ours)
  where
    answers :: Kind v -> IO [String]
    answers k = new k >>= \v -> mapM (perform k v) operations

perform :: Kind v -> v Int -> Operation -> IO String
perform k v operation = do
  empty <- isEmpty k v
  case operation of
    Take | not empty -> show <$> take' k v
    Put n | empty -> show <$> put' k v n
    Read | not empty -> show <$> read' k v
    Swap n | not empty -> show <$> swap k v n
    Add n | not empty -> show <$> modify k v (\x -> return (x + n, x))
    Fail | not empty -> show <$> failing (with k v (\_ -> throwIO (ErrorCall "failed")))
    TryTake -> show <$> tryTake k v
    TryPut n -> show <$> tryPut k v n
    TryRead -> show <$> tryRead k v
    IsEmpty -> return (show empty)
    _ -> return "would wait"

failing :: IO () -> IO String
failing action = either (\(ErrorCall e) -> e) (const "none") <$> try action

-- Forks threads, each of which waits before the next one is made.
oneAfterTheOther :: [IO ()] -> IO [ThreadId]
oneAfterTheOther = mapM (\action -> forkIO action <* threadDelay 10000)

-- Waits until it has as many elements, and returns them.
listed :: TVar [a] -> Int -> IO [a]
listed list n = atomically (readTVar list >>= \so -> check (length so == n) >> return (reverse so))

takersInOrder :: Kind v -> IO String
takersInOrder k = do
  v <- new k
  order <- newTVarIO []
  _ <- oneAfterTheOther [take' k v >>= \() -> atomically (modifyTVar' order (name :)) | name <- "abc"]
  forM_ [1 .. 3 :: Int] $ \n -> put' k v () >> listed order n
  listed order 3

puttersInOrder :: Kind v -> IO String
puttersInOrder k = do
  v <- newFull k '0'
  _ <- oneAfterTheOther (map (put' k v) "123")
  replicateM 4 (take' k v)

readersFirst :: Kind v -> IO String
readersFirst k = do
  v <- new k
  order <- newTVarIO []
  let note name x = atomically (modifyTVar' order ((name, x) :))
  _ <- oneAfterTheOther [take' k v >>= note 't', read' k v >>= note 'r', read' k v >>= note 'r']
  put' k v 'v'
  all' <- listed order 3
  empty <- isEmpty k v
  let names = map fst all'
  -- In which order they run is up to the scheduler. All must have got the value.
  return (if all ((== 'v') . snd) all' && empty then filter (== 'r') names ++ filter (== 't') names else show all')

handOver :: Kind v -> IO Int
handOver k = do
  v <- new k
  _ <- forkIO (mapM_ (put' k v) [1 .. 100])
  _ <- forkIO (mapM_ (put' k v) [101 .. 200])
  sum <$> replicateM 200 (take' k v)

killedTaker :: Kind v -> IO String
killedTaker k = do
  v <- new k
  said' <- newTVarIO []
  let say text = atomically (modifyTVar' said' (text :))
  killed <- oneAfterTheOther
    [ (take' k v >>= say) `catch` \e -> const (say "killed, ") (e :: AsyncException)
    , take' k v >>= say
    ]
  killThread (head killed)
  _ <- listed said' 1
  put' k v "b"
  concat <$> listed said' 2

killedPutter :: Kind v -> IO (String, Maybe Char, Maybe Char)
killedPutter k = do
  v <- newFull k 'a'
  said' <- newTVarIO []
  [t] <- oneAfterTheOther
    [put' k v 'b' `catch` \e -> const (atomically (writeTVar said' ["killed"])) (e :: AsyncException)]
  killThread t
  texts <- listed said' 1
  (,,) (concat texts) <$> tryTake k v <*> tryTake k v

timeLimits :: Kind v -> IO (Maybe Char, Maybe (), Maybe Char, Bool)
timeLimits k = do
  v <- new k
  a <- timeout 2000 (take' k v)
  put' k v 'v'
  b <- timeout 2000 (put' k v 'w')
  c <- timeout 10000000 (take' k v)
  (,,,) a b c <$> isEmpty k v

putsBack :: Kind v -> IO (String, Maybe Int)
putsBack k = do
  v <- newFull k 5
  text <- failing (with k v (\_ -> throwIO (ErrorCall "error")))
  (,) text <$> tryRead k v

changes :: Kind v -> IO (String, Maybe Int, Char)
changes k = do
  v <- newFull k 5
  text <- failing (modify_ k v (\_ -> throwIO (ErrorCall "error")))
  r <- modify k v (\x -> return (x + 1, 'r'))
  found <- tryRead k v
  return (text, found, r)

interruptedWith :: Kind v -> IO (Maybe Char)
interruptedWith k = do
  v <- new k
  ended' <- newTVarIO []
  [t] <- oneAfterTheOther [with k v (\_ -> return ()) `finally` atomically (writeTVar ended' "e")]
  killThread t
  _ <- listed ended' 1
  put' k v 'x'
  tryTake k v

unreachable :: Kind v -> IO Bool
unreachable k = do
  v <- new k
  r <- try (take' k v)
  return (either (\BlockedIndefinitelyOnMVar -> True) (\() -> False) r)

-- Each increment that has been made is counted, and the variable is full at the end.
increments :: Kind v -> IO Bool
increments k = do
  v <- newFull k (0 :: Int)
  done <- newTVarIO 0
  left <- newTVarIO (30 :: Int)
  let increment = mask_ $ do
        modify_ k v (return . (+ 1))
        atomically (modifyTVar' done (+ 1))
  -- Masked, so that none is killed before its handler stands.
  ts <- replicateM 30 $ mask_ $ forkIOWithUnmask $ \unmask ->
    unmask (replicateM_ 200 increment) `finally` atomically (modifyTVar' left (subtract 1))
  forM_ (zip [1 :: Int ..] ts) $ \(i, t) -> when (i `mod` 3 == 0) (threadDelay 100 >> killThread t)
  ended left
  (==) <$> readTVarIO done <*> take' k v

-- One thread of each scheduler, and main, pass a number on.
meeting :: IO (Maybe Int)
meeting = do
  all' <- everyScheduler
  first <- Ours.newEmptyMVar
  final <- foldM link first all'
  Ours.putMVar first (1 :: Int)
  timeout 10000000 (Ours.takeMVar final)
  where
    link from (Any _ s) = do
      to <- Ours.newEmptyMVar
      _ <- forkIn s (Ours.takeMVar from >>= Ours.putMVar to . (+ 1))
      return to

-- Threads of this scheduler, of another one and of the built-in one count under a lock, and give up their HEC in it.
lockedBeside :: Scheduler a -> IO Bool
lockedBeside s = do
  other <- onOne Fifo.policy
  lock <- Ours.newMVar (0 :: Int)
  left <- newTVarIO (9 :: Int)
  let count = do
        replicateM_ 20 $ Ours.modifyMVar_ lock $ \n -> do
          yield
          return $! n + 1
        atomically (modifyTVar' left (subtract 1))
  replicateM_ 3 (forkIn s count)
  replicateM_ 3 (forkIn other count)
  replicateM_ 3 (forkIO count)
  ended left
  (== 180) <$> Ours.takeMVar lock

othersRun :: Scheduler a -> IO Bool
othersRun s = do
  v <- Ours.newEmptyMVar
  done <- newTVarIO (2 :: Int)
  _ <- forkIn s (Ours.takeMVar v >> atomically (modifyTVar' done (subtract 1)))
  _ <- forkIn s (yield >> Ours.putMVar v () >> atomically (modifyTVar' done (subtract 1)))
  isJust <$> timeout 10000000 (ended done)

-- Threads have waited, and were killed. After some more have, the variable does not keep the former.
purged :: IO Bool
purged = do
  v <- Ours.newEmptyMVar
  let waiting = forkIO (Ours.takeMVar v) <* threadDelay 10
      batch = do
        ts <- replicateM 200 waiting
        weak <- mapM mkWeakThreadId ts
        mapM_ killThread ts
        return weak
  weak <- batch
  _ <- replicateM 3 batch
  performMajorGC
  performMajorGC
  alive <- length . filter isJust <$> mapM deRefWeak weak
  Ours.putMVar v ()
  Ours.takeMVar v
  return (alive == 0)

-- A thread that is masked is given a value. It keeps it, although it may be killed before it runs.
givenUnderMask :: IO String
givenUnderMask = do
  s <- onOne Fifo.policy
  v <- Ours.newEmptyMVar
  texts <- newTVarIO []
  let say text = atomically (modifyTVar' texts (text :))
  begun <- newTVarIO (1 :: Int)
  t <- forkIn s $ mask_ $ do
    atomically (writeTVar begun 0)
    (Ours.takeMVar v >>= say) `catch` \e -> const (say "lost") (e :: AsyncException)
    threadDelay 10000000 `catch` \e -> const (say "killed") (e :: AsyncException)
  ended begun
  threadDelay 1000
  Ours.putMVar v "given, "
  killThread t
  concat <$> listed texts 2
