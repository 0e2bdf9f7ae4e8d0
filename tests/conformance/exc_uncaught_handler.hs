-- The handler for uncaught exceptions can be replaced, and serves main and child threads.
import Control.Concurrent
import Control.Exception
import GHC.Conc

main :: IO ()
main = do
  done <- newEmptyMVar
  setUncaughtExceptionHandler (\e -> putStrLn ("handler: " ++ show e))
  _ <- mask_ (forkIOWithUnmask (\u -> u (throwIO (userError "child")) `finally` putMVar done ()))
  takeMVar done
  threadDelay 3000
  throwIO (userError "main")
