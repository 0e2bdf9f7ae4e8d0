-- A thread for each request, beside four threads that compute, on one HEC: how long the requests take one after the
-- other.
-- aim: elapsed 0.1
-- args: 40
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.List
import System.Environment

burn :: Int -> Int
burn n = foldl' (\a i -> (a * 31 + i) `mod` 1000003) 1 [1 .. 1000 + n]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let compute i = evaluate (burn (i `mod` 7)) >> compute (i + 1)
  replicateM_ 4 (forkIO (compute 0))
  answers <- newEmptyMVar
  _ <- forkIO $ forM_ [1 .. n] $ \i -> do
    asked <- newEmptyMVar
    _ <- forkIO (takeMVar asked >>= \x -> evaluate (burn x) >>= putMVar answers)
    putMVar asked i
    threadDelay 1000
  total <- sum <$> replicateM n (takeMVar answers)
  print total
