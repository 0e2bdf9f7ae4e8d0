-- An uncaught exception in a child thread is reported on stderr and the program goes on; some are silent.
import Control.Concurrent
import Control.Exception
import System.Exit
import System.IO

run :: IO () -> IO ()
run act = do
  done <- newEmptyMVar
  _ <- mask_ (forkIOWithUnmask (\u -> u act `finally` putMVar done ()))
  takeMVar done
  threadDelay 3000

main :: IO ()
main = do
  run (throwIO (userError "child failed"))
  run (evaluate (1 `div` (0 :: Int)) >> return ())
  run (error "two\nlines")
  run (throwIO ThreadKilled)
  run (throwIO BlockedIndefinitelyOnMVar)
  run (exitWith (ExitFailure 9))
  run (evaluate (let f :: Bool -> Int; f True = 1 in f False) >> return ())
  hPutStrLn stderr "main still here"
  putStrLn "end"
