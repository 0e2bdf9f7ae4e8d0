-- The orders of named queues on one HEC: which thread runs next, which one preempts another, and how queues take turns.
-- ghc: -O -threaded
-- needs: hecaton
-- skip-hecs: it sets the number of HECs itself
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.IORef
import Data.List (nub, sort)
import Hecaton.RunQueue
import OnSubstrate

main :: IO ()
main =
  substrateProgram
    [ expect "first in, first out" True (setNumCapabilities 1 >> fifo)
    , expect "last in, first out" True lifo
    , expect "the highest key first, then the longest wait" [9, 5, 5, 5, 2, 0, -3, minBound] keys
    , expect "a random order is that of the seed" (True, True, True) randomly
    , expect "one that yields goes behind its equals" "abcabcdd" yields
    , expect "children belong to the queue of their parent" [(True, 5), (True, 5), (False, 0), (True, 7)] children
    , expect "a thread joins and leaves" [(False, 0), (True, 3), (True, -1), (True, 0), (False, 0)] joining
    , expect "a woken thread preempts one with a lower key" [True, False] preempts
    , expect "a thread that lowers its key yields" "high low" lowers
    , expect "lower keys starve" False starves
    , expect "queues that never are empty take turns" True turns
    , expect "so does one that only yields" True yielding
    ]

-- Makes threads that are woken by one commit. Returns what they do, in the order in which they run.
together :: RunQueue -> [(Key, (a -> IO ()) -> IO ())] -> IO [a]
together queue threads = do
  gate <- newTVarIO False
  waiting <- newTVarIO (0 :: Int)
  journal <- newIORef []
  ends <- forM (zip [1 ..] threads) $ \(i, (key, act)) -> do
    end <- newEmptyMVar
    _ <- forkInQueueAs queue key $ do
      atomically (modifyTVar' waiting (+ 1))
      atomically (readTVar gate >>= check)
      act (\said -> atomicModifyIORef' journal (\all' -> (said : all', ())))
      putMVar end ()
    atomically (readTVar waiting >>= check . (== i))
    return end
  -- The last one has time to wait, too.
  threadDelay 2000
  atomically (writeTVar gate True)
  mapM_ takeMVar ends
  reverse <$> readIORef journal

-- The order in which ten threads run that one commit has woken.
orderOf :: RunQueue -> IO [Int]
orderOf queue = together queue [(0, \say -> say n) | n <- [1 .. 10]]

-- A commit wakes them in some order, which is the same each time.
fifo, lifo :: IO Bool
fifo = do
  orders <- replicateM 3 (newRunQueue Fifo >>= orderOf)
  return (length (nub orders) == 1 && sort (head orders) == [1 .. 10])
lifo = do
  first <- newRunQueue Fifo >>= orderOf
  lasts <- replicateM 3 (newRunQueue Lifo >>= orderOf)
  return (all (== reverse first) lasts)

keys :: IO [Key]
keys = do
  queue <- newRunQueue Priority
  together queue [(key, \say -> say key) | key <- [5, -3, 9, minBound, 5, 2, 5, 0]]

randomly :: IO (Bool, Bool, Bool)
randomly = do
  order <- newRunQueue (Random 1) >>= orderOf
  again <- newRunQueue (Random 1) >>= orderOf
  others <- forM [2 .. 6] (newRunQueue . Random >=> orderOf)
  return (order == again, length (nub others) > 3, all ((== [1 .. 10]) . sort) (order : others))

yields :: IO String
yields = do
  queue <- newRunQueue Priority
  let twice c say = say c >> yield >> say c
  said <- together queue [(1, twice 'd'), (2, twice 'a'), (2, twice 'b'), (2, twice 'c')]
  -- The order of those with the same key is that in which they were woken.
  return [if c == 'd' then c else "abc" !! length (takeWhile (/= c) (nub said)) | c <- said]

-- Is the running thread in this queue, and what is its key?
whereIs :: RunQueue -> IO (Bool, Key)
whereIs queue = do
  own <- currentQueue
  key <- getKey
  return (own == Just queue, key)

children :: IO [(Bool, Key)]
children = do
  queue <- newRunQueue Priority
  found <- newEmptyMVar
  let tell = whereIs queue >>= putMVar found
  forM [void (forkIO tell), void (forkOn 0 tell), void (forkOS tell), void (forkInQueueAs queue 7 tell)] $ \fork -> do
    _ <- forkInQueueAs queue 5 fork
    takeMVar found

joining :: IO [(Bool, Key)]
joining = do
  queue <- newRunQueue Priority
  sequence
    [ whereIs queue
    , joinQueueAs queue 3 >> yield >> whereIs queue
    , setKey (-1) >> yield >> whereIs queue
    , joinQueue queue >> yield >> whereIs queue
    , leaveQueue >> yield >> setKey 9 >> whereIs queue
    ]

-- Wakes a thread with each of these keys. Has it run when this one has allocated a little?
preempts :: IO [Bool]
preempts = do
  queue <- newRunQueue Priority
  forM [2, 0] $ \key -> do
    ran <- newIORef False
    box <- newEmptyMVar
    _ <- forkInQueueAs queue key (takeMVar box >> writeIORef ran True)
    result <- newEmptyMVar
    threadDelay 5000
    _ <- forkInQueueAs queue 1 (putMVar box () >> allocating 2000 (readIORef ran) >>= putMVar result)
    takeMVar result

-- Allocates, at most so often, until the condition holds. Returns whether it does.
allocating :: Int -> IO Bool -> IO Bool
allocating 0 condition = condition
allocating n condition = do
  holds <- condition
  if holds then return True else newIORef n >>= readIORef >>= \k -> allocating (k - 1) condition

lowers :: IO String
lowers = do
  queue <- newRunQueue Priority
  said <- newIORef []
  done <- newEmptyMVar
  let say s = atomicModifyIORef' said (\all' -> (s : all', ()))
  _ <- forkInQueueAs queue 9 $ do
    _ <- forkInQueueAs queue 5 (say "high" >> putMVar done ())
    setKey 1
    _ <- allocating 2000 (return False)
    say "low" >> putMVar done ()
  replicateM_ 2 (takeMVar done)
  unwords . reverse <$> readIORef said

-- Does a thread with a lower key run while another one computes?
starves :: IO Bool
starves = do
  queue <- newRunQueue Priority
  ran <- newIORef False
  result <- newEmptyMVar
  _ <- forkInQueueAs queue 1 $ do
    _ <- forkInQueueAs queue 0 (writeIORef ran True)
    allocating 3000000 (readIORef ran) >>= putMVar result
  takeMVar result

-- Threads that compute until all of them have run, each in a queue of its own, and one in the built-in queue.
turns :: IO Bool
turns = taking (void (allocating 1000 (return False)))

yielding :: IO Bool
yielding = taking yield

taking :: IO () -> IO Bool
taking act = do
  queues <- mapM newRunQueue [Fifo, Lifo, Priority, Random 1]
  run <- newTVarIO (0 :: Int)
  let thread = atomically (modifyTVar' run (+ 1)) >> wait
      wait = readTVarIO run >>= \n -> unless (n == length queues + 1) (act >> wait)
  ends <- forM (forkIO : map forkInQueue queues) $ \fork -> do
    end <- newEmptyMVar
    _ <- fork (thread >> putMVar end ())
    return end
  mapM_ takeMVar ends
  return True
