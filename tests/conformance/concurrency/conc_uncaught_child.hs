-- An uncaught exception in a child thread is reported on stderr and the program goes on; some are silent.
import Control.Concurrent
import Control.Exception
import System.Exit
import System.IO
import GHC.Conc (threadStatus, ThreadStatus (..))

run :: IO () -> IO ()
run act = do
  done <- newEmptyMVar
  t <- mask_ (forkIOWithUnmask (\u -> u act `finally` putMVar done ()))
  takeMVar done
  ended t

-- Waits until the thread has come to its end, and said what there is to say.
ended :: ThreadId -> IO ()
ended t = threadStatus t >>= \s -> if s `elem` [ThreadFinished, ThreadDied] then return () else threadDelay 1000 >> ended t

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
