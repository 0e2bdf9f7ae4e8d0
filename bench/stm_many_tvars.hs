-- STM: one transaction over fifty thousand variables, twice.
-- aim: elapsed 0.02
-- args: 50000
import Control.Concurrent.STM
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  vars <- forM [1 .. n] newTVarIO
  atomically (forM_ vars (\v -> readTVar v >>= \x -> writeTVar v $! x + 1))
  total <- atomically (foldM (\acc v -> (+ acc) <$> readTVar v) 0 vars)
  print (total :: Int)
