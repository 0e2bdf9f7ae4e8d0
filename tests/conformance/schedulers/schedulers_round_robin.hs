-- A round robin with user-level yield: its order, many threads, and collections in the middle.
-- ghc: -O -threaded
-- needs: hecaton
import Control.Concurrent (myThreadId, newEmptyMVar, putMVar, takeMVar)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Foreign.StablePtr (newStablePtr)
import OnSubstrate
import RoundRobin
import System.Mem (performGC, performMajorGC)

main :: IO ()
main = do
  substrateProgram
    [ expect "three threads take turns" (concat (replicate 4 "abc")) turns
    , expect "threads of threads" (sum [1 .. 64 :: Int]) (tree 6)
    , expect "many threads" (200 * 50 :: Int) (many 200 50)
    , expect "collections between switches" (20 * 30 :: Int) collections
    , expect "threads that wait for ever" (50 :: Int) waitingForEver
    , expect "threads of the built-in scheduler run, too" True besideBuiltIn
    , expect "an exception in a thread ends it alone" "caught, done" exceptions
    ]

-- A thread that nothing refers to gets an exception then. When it has run a handler and ends, others of its scheduler
-- go on.
waitingForEver :: IO Int
waitingForEver = do
  newScheduler
  -- Otherwise main would go to the built-in scheduler where all HECs are idle.
  _ <- myThreadId >>= newStablePtr
  ran <- newTVarIO 0
  replicateM_ 5 $ do
    replicateM_ 10 . fork $ do
      atomically (modifyTVar' ran (+ 1))
      finish `catch` \e -> throwIO (e :: BlockedIndefinitelyOnMVar)
    replicateM_ 3 yield
    performMajorGC
    replicateM_ 3 yield
  readTVarIO ran

turns :: IO String
turns = do
  newScheduler
  written <- newTVarIO ""
  left <- newTVarIO (3 :: Int)
  forM_ "abc" $ \name -> fork $ do
    replicateM_ 4 (atomically (modifyTVar' written (name :)) >> yield)
    atomically (modifyTVar' left (subtract 1))
  waitFor ((== 0) <$> readTVar left)
  reverse <$> readTVarIO written

-- Each thread makes two, down to a depth, and adds its number.
tree :: Int -> IO Int
tree depth = do
  newScheduler
  total <- newTVarIO 0
  ended <- newTVarIO (0 :: Int)
  let grow level number
        | level == 0 = atomically (modifyTVar' total (+ number) >> modifyTVar' ended (+ 1))
        | otherwise = do
            fork (grow (level - 1) (2 * number))
            yield
            fork (grow (level - 1) (2 * number - 1))
  fork (grow depth 1)
  waitFor ((== 2 ^ depth) <$> readTVar ended)
  readTVarIO total

many :: Int -> Int -> IO Int
many threads steps = do
  newScheduler
  total <- newTVarIO 0
  left <- newTVarIO threads
  replicateM_ threads $ fork $ do
    forM_ [1 .. steps] $ \i -> do
      -- Something that allocates, and survives a switch.
      let list = [i .. i + 20]
      _ <- evaluate (length list)
      yield
      atomically (modifyTVar' total (+ (length (filter (== i) list))))
    atomically (modifyTVar' left (subtract 1))
  waitFor ((== 0) <$> readTVar left)
  readTVarIO total

collections :: IO Int
collections = do
  newScheduler
  total <- newTVarIO 0
  left <- newTVarIO (20 :: Int)
  forM_ [1 .. 20 :: Int] $ \n -> fork $ do
    forM_ [1 .. 30 :: Int] $ \i -> do
      when (i == n) performMajorGC
      when (i == 30 - n) performGC
      yield
      atomically (modifyTVar' total (+ 1))
    atomically (modifyTVar' left (subtract 1))
  waitFor ((== 0) <$> readTVar left)
  readTVarIO total

-- A thread that waits for its turn on the run queue gets one while others only switch.
besideBuiltIn :: IO Bool
besideBuiltIn = do
  newScheduler
  seen <- newTVarIO False
  done <- newEmptyMVar
  forkBuiltIn (atomically (writeTVar seen True) >> putMVar done ())
  fork (waitFor (readTVar seen))
  waitFor (readTVar seen)
  takeMVar done
  readTVarIO seen

exceptions :: IO String
exceptions = do
  newScheduler
  caught <- newTVarIO ""
  left <- newTVarIO (2 :: Int)
  let ended = atomically (modifyTVar' left (subtract 1))
  fork $ handle (\e -> atomically (modifyTVar' caught (++ "caught, ")) >> const ended (e :: ErrorCall)) $ do
    yield
    _ <- throwIO (ErrorCall "in a thread")
    ended
  fork (yield >> yield >> ended)
  waitFor ((== 0) <$> readTVar left)
  (++ "done") <$> readTVarIO caught
