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

main :: IO ()
main = do
  t0 <- getMonotonicTime
  replicateM_ 3 $ do
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
  putStrLn (if t1 - t0 < 4 then "in time" else "late: " ++ show (t1 - t0))
