-- Threads of named queues on any number of HECs: they block and wake as others do, none is lost, idle HECs get some.
-- ghc: -O -threaded
-- needs: hecaton
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List (nub)
import Hecaton.RunQueue
import OnSubstrate
import RoundRobin (newScheduler)
import System.Mem (performGC, performMajorGC)
import System.Timeout (timeout)

main :: IO ()
main =
  substrateProgram
    [ expect "MVars" (replicate 4 [2000, 2000, 2000]) (forAllOrders rings)
    , expect "transactions" (replicate 4 (20 * 100 :: Int)) (forAllOrders transactions)
    , expect "thunks" (replicate 4 (50 * 5000050000 :: Int)) (forAllOrders thunks)
    , expect "trees of threads" (replicate 4 (2 ^ (9 :: Int) :: Int)) (forAllOrders trees)
    , expect "delays and time limits" (replicate 4 (10 :: Int, 10 :: Int)) (forAllOrders delays)
    , expect "threads that are killed" (replicate 4 (200 :: Int, 0 :: Int)) (forAllOrders kills)
    , expect "idle HECs are given threads" (replicate 4 True) (forAllOrders spread)
    , expect "threads of several queues" (3 * 200 :: Int) several
    , expect "deadlock" (replicate 4 (replicate 3 True)) (forAllOrders deadlock)
    , expect "beside a scheduler" (replicate 4 (1000 :: Int)) beside
    ]

forAllOrders :: (RunQueue -> IO a) -> IO [a]
forAllOrders act = forM [Fifo, Lifo, Priority, Random 7] (newRunQueue >=> act)

-- Runs the action in threads of the queue, with their numbers, which are also their keys, and collects the results.
members :: RunQueue -> Int -> (Int -> IO a) -> IO [a]
members queue n act = do
  results <- forM [1 .. n] $ \i -> do
    result <- newEmptyMVar
    _ <- forkInQueueAs queue (fromIntegral i) (try (act i) >>= putMVar result)
    return result
  forM results (takeMVar >=> either (throwIO :: SomeException -> IO a) return)

-- Rings of threads pass a number around. Some collect.
rings :: RunQueue -> IO [Int]
rings queue = replicateM 3 $ do
  boxes <- replicateM 20 newEmptyMVar
  putMVar (head boxes) 0
  _ <- members queue 20 $ \i -> replicateM_ 100 $ do
    n <- takeMVar (boxes !! (i - 1))
    when (n `mod` 401 == 400) performGC
    putMVar (boxes !! (i `mod` 20)) $! n + 1
  takeMVar (head boxes)

transactions :: RunQueue -> IO Int
transactions queue = do
  turn <- newTVarIO (0 :: Int)
  total <- newTVarIO 0
  _ <- members queue 20 $ \i -> replicateM_ 100 $ do
    atomically (readTVar turn >>= \n -> check (n `mod` 20 == i - 1) >> writeTVar turn (n + 1))
    atomically (modifyTVar' total (+ 1))
  readTVarIO total

-- All threads wait for the same thunks.
thunks :: RunQueue -> IO Int
thunks queue = do
  n <- newIORef 100000 >>= readIORef
  let shared = sum [1 .. n] :: Int
  sum <$> members queue 50 (\_ -> evaluate shared)

trees :: RunQueue -> IO Int
trees queue = do
  leaves <- newTVarIO 0
  let tree :: Int -> IO ()
      tree 0 = currentQueue >>= \own -> when (own == Just queue) (atomically (modifyTVar' leaves (+ 1)))
      tree n = replicateM_ 2 (forkIO (tree (n - 1)))
  _ <- forkInQueue queue (tree 9)
  atomically (readTVar leaves >>= check . (== 2 ^ (9 :: Int)))
  readTVarIO leaves

delays :: RunQueue -> IO (Int, Int)
delays queue = do
  slept <- members queue 10 (\i -> threadDelay (100 * i))
  limited <- members queue 10 (\_ -> timeout 2000 (newEmptyMVar >>= \box -> takeMVar box :: IO ()))
  return (length slept, length (filter (== Nothing) limited))

-- Threads are killed while they run, yield and wait. Each of them ends, and none holds the lock.
kills :: RunQueue -> IO (Int, Int)
kills queue = do
  ended <- newTVarIO 0
  inside <- newMVar (0 :: Int)
  never <- newEmptyMVar
  gate <- newTVarIO False
  let acts =
        [ forever yield
        , takeMVar never
        , atomically (readTVar gate >>= check)
        , forever (modifyMVar_ inside (\n -> return $! n + 1) >> modifyMVar_ inside (\n -> return $! n - 1))
        , threadDelay 60000000
        ]
  threads <- forM [1 .. 200] $ \i -> mask_ $
    forkInQueueWithUnmask queue (fromIntegral (i `mod` 3)) $ \unmask ->
      (unmask (acts !! (i `mod` 5)) `catch` \ThreadKilled -> return ()) `finally` atomically (modifyTVar' ended (+ 1))
  performGC
  -- Each has a thrower of its own, because one may have to wait: some orders let no other start while two yield. Half
  -- of the throwers belong to the queue.
  forM_ (zip threads (cycle [forkIO, forkInQueueAs queue 9])) $ \(thread, fork) -> fork (killThread thread)
  atomically (readTVar ended >>= check . (== 200))
  -- One that is killed between its two steps leaves one in.
  _ <- swapMVar inside 0
  (,) <$> readTVarIO ended <*> readMVar inside

spread :: RunQueue -> IO Bool
spread queue = do
  hecs <- getNumCapabilities
  seen <- newTVarIO []
  let enough found = length (nub found) >= min 2 hecs
      compute = do
        (hec, _) <- myThreadId >>= threadCapability
        found <- atomically $ do
          found <- nub . (hec :) <$> readTVar seen
          found <$ writeTVar seen found
        _ <- evaluate (length (show (product [1 .. 300 :: Integer])))
        unless (enough found) compute
  result <- timeout 30000000 (members queue 8 (const compute))
  return (maybe False (const True) result)

-- Threads of all queues and the built-in one share MVars, and move from queue to queue.
several :: IO Int
several = do
  queues <- mapM newRunQueue [Fifo, Lifo, Priority, Random 3]
  total <- newMVar (0 :: Int)
  done <- newEmptyMVar
  forM_ [1 .. 200] $ \i -> forkIO $ do
    forM_ [joinQueueAs (queues !! (i `mod` 4)) 1, joinQueue (queues !! (i `div` 4 `mod` 4)), leaveQueue] $ \move -> do
      () <- move
      when (i `mod` 3 == 0) yield
      modifyMVar_ total (\n -> return $! n + 1)
      when (i `mod` 50 == 0) performGC
    putMVar done ()
  replicateM_ 200 (takeMVar done)
  readMVar total

deadlock :: RunQueue -> IO [Bool]
deadlock queue = do
  found <- newEmptyMVar
  _ <- forkInQueue queue (raisesIn (newEmptyMVar >>= takeMVar) (\BlockedIndefinitelyOnMVar -> True) >>= putMVar found)
  _ <- forkInQueue queue (raisesIn (atomically retry) (\BlockedIndefinitelyOnSTM -> True) >>= putMVar found)
  -- A thread that waits for the two would get an exception, too.
  let poll = tryTakeMVar found >>= maybe (threadDelay 1000 >> performMajorGC >> poll) return
  blocked <- replicateM 2 poll
  -- The queue goes on.
  (: blocked) . (== [()]) <$> members queue 1 (const (return ()))
  where
    raisesIn :: Exception e => IO () -> (e -> Bool) -> IO Bool
    raisesIn act accepts = either accepts (const False) <$> try act

-- The running thread belongs to a scheduler, and uses its HEC.
beside :: IO [Int]
beside = do
  result <- newEmptyMVar
  _ <- forkIO $ do
    newScheduler
    found <- forAllOrders $ \queue -> do
      box <- newEmptyMVar
      _ <- forkInQueue queue (forM_ [1 .. 1000] (putMVar box))
      last <$> replicateM 1000 (takeMVar box)
    putMVar result found
  takeMVar result
