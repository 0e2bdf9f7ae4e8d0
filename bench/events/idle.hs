-- A program that has nothing to do: its threads wait for pipes, for time and for each other. It prints a line once all
-- of them wait.
import Control.Concurrent
import Control.Monad
import System.IO
import System.Posix.IO
import System.Timeout

main :: IO ()
main = do
  replicateM_ 100 $ do
    (from, _) <- createPipe
    _ <- forkIO (threadWaitRead from)
    _ <- forkIO (void (timeout hour (threadWaitRead from)))
    forkIO (threadDelay hour)
  never <- newEmptyMVar
  _ <- forkIO (threadDelay hour >> putMVar never ())
  threadDelay 100000
  putStrLn "idle"
  hFlush stdout
  takeMVar never
  where
    hour = 3600000000
