-- The schedulers of the package at the ends of time slices: threads that compute, and do not yield, take turns.
-- ghc: -O -threaded -with-rtsopts=-C0.01
-- needs: hecaton
import Control.Concurrent.STM
import Control.Monad
import Data.IORef
import Hecaton.Scheduler
import Hecaton.Substrate (ownSCont, runTime)
import LibrarySchedulers
import OnSubstrate

main :: IO ()
main =
  substrateProgram
    [ expect "threads take turns on one HEC" ["LIFO"] (forAll' inTurns)
    , expect "no thread is lost" [] (onAllHECs >>= failuresOf allEnd)
    , expect "in the middle of transactions" [] (forAll' inTransactions)
    ]

-- Two threads, each of which computes until the other one has gone on, or it has had many slices: a round robin on one
-- HEC at a time has a queue for each HEC, and does not look at all each time. The latest first is an order in which
-- this fails: the thread whose slice is over is the latest.
inTurns :: Scheduler a -> IO Bool
inTurns s = do
  counts <- newIORef (0, 0) :: IO (IORef (Int, Int))
  met <- newIORef True
  let turn mine other n = when (n < 3) $ do
        atomicModifyIORef' counts (\c -> (mine n c, ()))
        waited <- computeUntil 1500 ((>= n) . other <$> readIORef counts)
        if waited then turn mine other (n + 1) else writeIORef met False
  threads s [turn (\n (_, b) -> (n, b)) snd 1, turn (\n (a, _) -> (a, n)) fst 1]
  readIORef met

-- Computes until the condition holds, or for this many milliseconds of its own.
computeUntil :: Int -> IO Bool -> IO Bool
computeUntil limit condition = own >>= go
  where
    own = atomically (ownSCont >>= runTime)
    go begun = do
      holds <- condition
      now <- own
      if holds || now - begun > fromIntegral limit * 1000000 then return holds else go begun

-- More threads than HECs compute for some slices.
allEnd :: Scheduler a -> IO Bool
allEnd s = do
  total <- newTVarIO (0 :: Int)
  threads s [void (computeUntil 25 (return False)) >> atomically (modifyTVar' total (+ n)) | n <- [1 .. 8]]
  (== 36) <$> readTVarIO total

-- Threads whose transactions compute count one variable up. A tick repeats or loses none.
inTransactions :: Scheduler a -> IO Bool
inTransactions s = do
  total <- newTVarIO (0 :: Int)
  threads s $ replicate 3 $ replicateM_ 20 $ atomically $ do
    n <- readTVar total
    when (sum [1 .. 20000 + n] > 0) (writeTVar total (n + 1))
  (== 60) <$> readTVarIO total
