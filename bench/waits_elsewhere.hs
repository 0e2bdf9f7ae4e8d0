-- A thread waits for a thunk whose owner takes turns with seven others, on another HEC.
-- aim: elapsed 0.4
-- args: 2
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.List
import System.Environment

burn :: Integer -> Integer
burn n = foldl' (\a i -> (a * 31 + i) `mod` 10000000000000000000000003) 1 [1 .. n]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  setNumCapabilities 2
  let compute i = evaluate (burn (10000 + i `mod` 2)) >> compute (i + 1)
  forM_ [1 .. 7] (forkOn 1 . compute)
  values <- forM [1 .. n] $ \i -> do
    let x = burn (6000000 + i)
    _ <- forkOn 1 (void (evaluate x))
    value <- newEmptyMVar
    _ <- forkOn 0 (threadDelay 300000 >> (putMVar value $! x))
    takeMVar value
  print (sum values)
