-- A deadlocked main thread ends with the message and exit code 1.
import Control.Concurrent
main :: IO ()
main = do
  putStrLn "waiting"
  m <- newEmptyMVar
  takeMVar m
  putStrLn "not reached"
