-- The handler for uncaught exceptions can be replaced, and serves main and child threads.
import Control.Concurrent
import Control.Exception
import GHC.Conc

-- Waits until the thread has come to its end, and said what there is to say.
ended :: ThreadId -> IO ()
ended t = threadStatus t >>= \s -> if s `elem` [ThreadFinished, ThreadDied] then return () else threadDelay 1000 >> ended t

main :: IO ()
main = do
  done <- newEmptyMVar
  setUncaughtExceptionHandler (\e -> putStrLn ("handler: " ++ show e))
  t <- mask_ (forkIOWithUnmask (\u -> u (throwIO (userError "child")) `finally` putMVar done ()))
  takeMVar done
  ended t
  throwIO (userError "main")
