-- threadDelay wakes threads in the order of their deadlines, however they were started.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Monad
import GHC.Clock
import GHC.Conc

step :: Int
step = 15000

-- Waits until the thread sleeps, or has slept.
asleep :: ThreadId -> IO ()
asleep t = threadStatus t >>= \s -> when (s == ThreadRunning) (yield >> asleep t)

-- The order in which they wake. It follows from the delays only if all fell asleep within less than the time between
-- two deadlines: otherwise they do it again.
order :: IO [Int]
order = do
  out <- newChan
  begin <- getMonotonicTime
  forM [5, 2, 8, 1, 4, 7, 3, 6 :: Int] (\i -> forkIO (threadDelay (i * step) >> writeChan out i)) >>= mapM_ asleep
  end <- getMonotonicTime
  woken <- replicateM 8 (readChan out)
  if (end - begin) * 1000000 < fromIntegral step then return woken else order

main :: IO ()
main = do
  order >>= print
  threadDelay 0
  threadDelay (-5)
  putStrLn "zero and negative delays return"
  _ <- forkIO (threadDelay maxBound)
  putStrLn "an endless delay does not hold up the end"
