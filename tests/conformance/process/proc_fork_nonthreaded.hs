-- forkProcess without OS threads.
-- ghc: -O
import System.Exit
import System.IO
import System.Posix.Process
import Control.Concurrent

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  p <- forkProcess (threadDelay 2000 >> putStrLn "child" >> exitWith (ExitFailure 3))
  getProcessStatus True False p >>= print
  q <- forkProcess (forkIO (putStrLn "grandchild thread") >> yield >> threadDelay 1000)
  getProcessStatus True False q >>= print
