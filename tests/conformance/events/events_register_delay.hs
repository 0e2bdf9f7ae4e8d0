-- registerDelay: one at once, several transactions on one, both of two, the order of several, and many.
-- skip-order: it measures time, which is virtual
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.IORef
import GHC.Clock
import System.Mem
import Waits

due :: TVar Bool -> STM ()
due v = readTVar v >>= check

-- The order in which delays come due, if they were registered and seen quickly enough to tell.
order :: [Int] -> IO [Int]
order ks = do
  begin <- getMonotonicTime
  vs <- forM ks (\k -> (,) k <$> registerDelay (k * 20000))
  let go [] = return []
      go left = do
        k <- atomically (foldr (orElse . (\(k, v) -> due v >> return k)) retry left)
        now <- getMonotonicTime
        ((k, now - begin < fromIntegral (k + 1) * 0.02) :) <$> go (filter ((/= k) . fst) left)
  came <- go vs
  if all snd came then return (map fst came) else order ks

main :: IO ()
main = do
  forM_ [0, -5, minBound, 1] $ \d -> registerDelay d >>= atomically . due
  v <- registerDelay 5000
  ws <- replicateM 4 (spawn (atomically (due v)))
  mapM_ (report "due") ws
  order [4, 1, 3, 2] >>= print
  -- Both of two, in one transaction.
  a <- registerDelay 2000
  b <- registerDelay 6000
  atomically (due a >> due b)
  -- Never early.
  early <- newIORef (0 :: Int)
  forM_ [100, 1000, 3000] $ \d -> do
    begin <- getMonotonicTimeNSec
    x <- registerDelay d
    atomically (due x)
    end <- getMonotonicTimeNSec
    when (fromIntegral (end - begin) < d * 1000) (modifyIORef early (+ 1))
  readIORef early >>= print
  -- A variable that only the pending delay and a waiter know survives collections; one that nobody knows is harmless.
  held <- registerDelay 30000
  waiter <- spawn (atomically (due held))
  replicateM_ 100 (void (registerDelay 3000))
  performMajorGC
  performMajorGC
  report "after collections" waiter
  -- Many, and the longest.
  many <- forM [1 .. 2000 :: Int] (\i -> registerDelay (1000 + i `mod` 7))
  atomically (mapM_ due many)
  never <- registerDelay maxBound
  threadDelay 5000
  readTVarIO never >>= print
