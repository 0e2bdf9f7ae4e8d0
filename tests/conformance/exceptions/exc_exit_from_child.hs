-- exitWith in a child thread, forwarded to main with throwTo, sets the exit code.
import Control.Concurrent
import Control.Exception
import System.Exit
main :: IO ()
main = do
  m <- myThreadId
  _ <- forkIO (exitWith (ExitFailure 42) `catch` \e -> throwTo m (e :: ExitCode))
  threadDelay 100000000
  putStrLn "not reached"
