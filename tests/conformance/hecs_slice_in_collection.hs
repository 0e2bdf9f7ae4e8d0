-- A time slice that comes to its end while the world is stopped for a collection is over nevertheless: with collections every
-- fraction of a millisecond that is when most end, and whoever waits for a turn would wait for seconds.
-- ghc: -threaded -O
-- args: +RTS -N4 -A64k -RTS
-- timeout: 60
import Control.Concurrent
import Control.Exception
import Control.Monad
import GHC.Clock

spin :: Integer -> IO ()
spin n = evaluate (sum [n .. n + 100]) >> spin (n + 1)
{-# NOINLINE spin #-}

-- How long four races of a thread that computes against a delay take.
race :: IO Double
race = do
  t0 <- getMonotonicTime
  done <- newEmptyMVar
  replicateM_ 4 $ forkIO $ do
    due <- newEmptyMVar
    s <- forkIO (spin 0)
    _ <- forkIO (threadDelay 100000 >> putMVar due ())
    takeMVar due
    killThread s
    putMVar done ()
  replicateM_ 4 (takeMVar done)
  t1 <- getMonotonicTime
  return (t1 - t0)

-- Who shares the machine may slow one of them.
main :: IO ()
main = do
  times <- replicateM 4 race
  putStrLn (if minimum times < 0.8 then "in time" else "late: " ++ show times)
