-- threadDelay: 0, negative, tiny and endless ones, their order, and that none ends early.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import GHC.Clock
import Waits

step :: Int
step = 20000

-- The order in which they wake. It follows from the delays only if all began within less than the time between two
-- deadlines: otherwise they do it again.
order :: [Int] -> IO [Int]
order ks = do
  out <- newChan
  begin <- getMonotonicTime
  mapM (\k -> forkIO (threadDelay (k * step) >> writeChan out k)) ks >>= mapM_ untilBlocked
  end <- getMonotonicTime
  woken <- replicateM (length ks) (readChan out)
  if (end - begin) * 1000000 < fromIntegral step then return woken else order ks

main :: IO ()
main = do
  mapM_ threadDelay [0, -1, minBound, 1, 2, 10, 999]
  within 0.5 (mapM_ threadDelay [0, 0, minBound, -1000000000]) >>= print
  order [5, 2, 4, 1, 6, 3] >>= print
  -- Never early, by whatever clock the program looks at.
  early <- newIORef (0 :: Int)
  forM_ [1, 10, 100, 500, 1000, 1500, 5000] $ \us -> do
    begin <- getMonotonicTimeNSec
    threadDelay us
    end <- getMonotonicTimeNSec
    when (fromIntegral (end - begin) < us * 1000) (modifyIORef early (+ 1))
  readIORef early >>= print
  -- Equal ones all end.
  done <- newChan
  forM_ [1 .. 200 :: Int] $ \i -> forkIO (threadDelay 5000 >> writeChan done i)
  replicateM 200 (readChan done) >>= print . (== [1 .. 200]) . sort
  -- The longest do not end, and leave shorter ones alone.
  longest <- forM [maxBound, maxBound - 1, maxBound `div` 2, maxBound `div` 1000, 2 ^ (62 :: Int), 2 ^ (40 :: Int)]
    (spawn . threadDelay)
  threadDelay 20000
  forM_ longest $ \(_, v) -> tryReadMVar v >>= print . maybe "sleeps" (either show show)
  forM_ longest $ \(t, _) -> killThread t
  mapM_ (report "killed") longest
  -- In every masking state a delay ends.
  forM_ [mask_, uninterruptibleMask_] $ \masked -> masked (threadDelay 1000 >> threadDelay 0)
  getMaskingState >>= print
