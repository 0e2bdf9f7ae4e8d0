-- A round robin on several HECs: SConts are started on idle HECs, HECs sleep in retry, threads stay on their HEC, and
-- those that block in the runtime or are killed go back to their scheduler.
-- ghc: -O -threaded
-- needs: hecaton
-- skip-hecs: it sets the number of HECs itself
import Control.Concurrent (killThread, newEmptyMVar, putMVar, setNumCapabilities, takeMVar, threadDelay)
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List (nub)
import GHC.Conc (unsafeIOToSTM)
import Hecaton.Substrate
import OnSubstrate
import RoundRobin
import System.Mem (performGC, performMajorGC)

main :: IO ()
main =
  substrateProgram
    [ expect "SConts start on idle HECs until there is none" (hecs, True) (setNumCapabilities hecs >> starting)
    , expect "a HEC runs one thread at a time, which stays there" (0 :: Int) (withHecs alone)
    , expect "HECs that sleep are woken" (sum [1 .. 100 :: Int]) (withHecs sleeping)
    , expect "threads that wait for MVars" (20 * 50 :: Int) (withHecs mvars)
    , expect "threads that wait in transactions" (20 * 50 :: Int) (withHecs transactions)
    , expect "passive threads are killed" (100 :: Int, 100 :: Int) (withHecs killing)
    , expect "what a killed thread was given is not lost" (100 :: Int) (withHecs handing)
    , expect "switches that have read many variables" () (withHecs manyVariables)
    , expect "a used HEC is refused to others" (True, True, True) (withHecs refused)
    ]

hecs :: Int
hecs = 4

-- Runs an action under a scheduler that has all HECs.
withHecs :: IO a -> IO a
withHecs action = do
  newScheduler
  replicateM_ (hecs - 1) (newSCont finish >>= start)
  result <- action
  -- Each of these threads ends without a switch, so that its HEC is used no more.
  left <- newTVarIO (hecs - 1)
  replicateM_ (hecs - 1) (newSCont (atomically (modifyTVar' left (subtract 1))) >>= atomically . enqueueAct)
  waitFor ((== 0) <$> readTVar left)
  return result
  where
    -- The last one may still be about to end.
    start s = do
      none <- raises NoIdleHEC (runOnIdleHEC s)
      when none (threadDelay 1000 >> start s)

starting :: IO (Int, Bool)
starting = do
  newScheduler
  numbers <- newTVarIO []
  let note = getCurrentHEC >>= \n -> modifyTVar' numbers (n :)
      -- It ends without a switch.
      there = atomically note >> atomically (readTVar numbers >>= \found -> check (length found == hecs))
  replicateM_ (hecs - 1) (newSCont there >>= runOnIdleHEC)
  none <- newSCont there >>= raises NoIdleHEC . runOnIdleHEC
  atomically note
  -- Threads that wait in the runtime leave their HECs to upcalls, which sleep.
  waitFor ((== hecs) . length <$> readTVar numbers)
  found <- readTVarIO numbers
  return (length (nub found), none)

-- Counts how often another thread has run on the HEC during a switch, or the switch is on another HEC when it ends.
alone :: IO Int
alone = do
  wrong <- newIORef 0
  marks <- replicateM hecs (newIORef 0)
  left <- newTVarIO (50 :: Int)
  let turns :: Int -> Int -> IO ()
      turns _ 0 = atomically (modifyTVar' left (subtract 1))
      turns me n = do
        when (n == 50) performGC
        when (n `mod` 20 == 0) (atomically (preemptHEC (n `mod` hecs)))
        switch $ \s -> do
          h <- getCurrentHEC
          unsafeIOToSTM (writeIORef (marks !! h) me >> void (evaluate (length [n .. n + 2000])))
          found <- unsafeIOToSTM (readIORef (marks !! h))
          now <- getCurrentHEC
          unless (found == me && now == h) (unsafeIOToSTM (atomicModifyIORef' wrong (\w -> (w + 1, ()))))
          enqueueAct s
          dequeueAct s
        turns me (n - 1)
  forM_ [1 .. 50] (\me -> fork (turns me 100))
  threadDelay 1000
  atomically (readTVar left >>= check . (== 0))
  readIORef wrong

-- A thread of the built-in scheduler gives one thread after the other to HECs that sleep.
sleeping :: IO Int
sleeping = do
  total <- newTVarIO 0
  sconts <- forM [1 .. 100] (\i -> newSCont (atomically (modifyTVar' total (+ i)) >> finish))
  done <- newEmptyMVar
  forkBuiltIn $ do
    forM_ (zip [1 :: Int ..] sconts) $ \(i, s) -> do
      when (i `mod` 10 == 0) (threadDelay 500)
      when (i `mod` 40 == 0) performMajorGC
      atomically (enqueueAct s)
    putMVar done ()
  takeMVar done
  atomically (readTVar total >>= check . (== sum [1 .. 100]))
  readTVarIO total

mvars :: IO Int
mvars = do
  total <- newTVarIO 0
  pairs <- replicateM 20 ((,) <$> newEmptyMVar <*> newEmptyMVar)
  done <- newEmptyMVar
  forM_ pairs $ \(there, back) -> do
    fork (replicateM_ 50 (putMVar there (1 :: Int) >> takeMVar back) >> putMVar done ())
    fork (replicateM_ 50 (takeMVar there >>= \n -> atomically (modifyTVar' total (+ n)) >> putMVar back ()))
  forM_ pairs (\_ -> takeMVar done)
  readTVarIO total

transactions :: IO Int
transactions = do
  total <- newTVarIO 0
  done <- newTVarIO (0 :: Int)
  replicateM_ 20 $ do
    v <- newTVarIO Nothing
    fork $ replicateM_ 50 $ atomically (readTVar v >>= maybe (writeTVar v (Just 1)) (const retry))
    fork $ do
      replicateM_ 50 $ do
        n <- atomically (readTVar v >>= maybe retry (\n -> writeTVar v Nothing >> return n))
        atomically (modifyTVar' total (+ n))
      atomically (modifyTVar' done (+ 1))
  atomically (readTVar done >>= check . (== 20))
  readTVarIO total

-- Threads that wait passively, in a list, are killed while others run. Their handlers run under the scheduler.
killing :: IO (Int, Int)
killing = do
  waiting <- newTVarIO []
  killed <- newTVarIO 0
  replicateM_ 100 $ fork $
    switch (\s -> modifyTVar' waiting (s :) >> dequeueAct s)
      `catch` \e -> yield >> const (atomically (modifyTVar' killed (+ 1))) (e :: AsyncException)
  -- A thread cannot wait passively while its scheduler has no other one.
  let othersFor = do
        found <- readTVarIO waiting
        if length found == 100 then return found else fork (return ()) >> threadDelay 200 >> othersFor
  sconts <- othersFor
  forM_ sconts (killThread . threadOf)
  atomically (readTVar killed >>= check . (== 100))
  -- They are stale.
  atomically (mapM_ enqueueAct sconts)
  (,) (length sconts) <$> readTVarIO killed

-- Threads wait for tokens, and are killed meanwhile. One that is killed leaves the queue, or has a token already. Then
-- it has been given to its scheduler, and gets the exception later.
handing :: IO Int
handing = do
  waiting <- newTVarIO []
  taken <- newTVarIO 0
  let token = mask_ $ do
        hole <- newTVarIO False
        switch (\s -> modifyTVar' waiting (++ [(hole, s)]) >> dequeueAct s)
          `catch` \e -> const (return ()) (e :: AsyncException)
        got <- atomically $ do
          got <- readTVar hole
          if got then modifyTVar' taken (+ 1) else modifyTVar' waiting (filter ((/= hole) . fst))
          return got
        unless got token
      othersFor n = do
        now <- readTVarIO taken
        when (now < n) (fork (return ()) >> threadDelay 200 >> othersFor n)
  -- One that ended by an exception would leave its HEC to no other.
  replicateM_ 100 (fork (token `catch` \e -> const (return ()) (e :: AsyncException)))
  forkBuiltIn $ forM_ [1 .. 400 :: Int] $ \i -> do
    found <- readTVarIO waiting
    unless (null found) (killThread (threadOf (snd (found !! (i `mod` min 3 (length found))))))
  forkBuiltIn $ replicateM_ 100 $ atomically $ do
    found <- readTVar waiting
    case found of
      [] -> retry
      (hole, s) : others -> writeTVar waiting others >> writeTVar hole True >> enqueueAct s
  othersFor 100
  readTVarIO taken

-- Records of all lengths, to which the switch adds the statuses of both threads.
manyVariables :: IO ()
manyVariables = do
  variables <- replicateM 70 (newTVarIO 'v')
  left <- newTVarIO (4 :: Int)
  let turns = forM_ [0 .. 70] $ \n -> switch (\s -> mapM_ readTVar (take n variables) >> enqueueAct s >> dequeueAct s)
  replicateM_ 4 (fork (turns >> atomically (modifyTVar' left (subtract 1))))
  turns
  waitFor ((== 0) <$> readTVar left)

-- All HECs are used.
refused :: IO (Bool, Bool, Bool)
refused = do
  result <- newEmptyMVar
  forkBuiltIn $ do
    s <- newSCont (return ())
    chosen <- raises HecInUse (switch (\_ -> return s))
    setDequeueAct (\_ -> return s)
    joined <- raises HecInUse (setEnqueueAct (\_ -> return ()))
    -- It only yields.
    switch (\own -> enqueueAct own >> dequeueAct own)
    putMVar result (chosen, joined, True)
  takeMVar result
