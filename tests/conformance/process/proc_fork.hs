-- forkProcess: the child has its own copy, only the forking thread, its own exit code; the parent waits for it.
import Control.Concurrent
import Control.Exception
import Data.IORef
import System.Exit
import System.IO
import System.Posix.Process
import System.Posix.Signals
import System.Mem

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  r <- newIORef (1 :: Int)
  ticker <- forkIO (let go :: Int -> IO (); go n = threadDelay 1000 >> (n `seq` go (n + 1)) in go 0)
  p1 <- forkProcess $ do
    writeIORef r 2
    performMajorGC
    v <- newEmptyMVar
    _ <- forkIO (threadDelay 2000 >> putMVar v "child's own threads and timers")
    takeMVar v >>= putStrLn
    exitWith (ExitFailure 9)
  s1 <- getProcessStatus True False p1
  print s1
  readIORef r >>= print
  p2 <- forkProcess (throwIO (userError "child's exception"))
  getProcessStatus True False p2 >>= print
  p3 <- forkProcess (raiseSignal sigKILL)
  getProcessStatus True False p3 >>= print
  p4 <- forkProcess (return ())
  getProcessStatus True False p4 >>= print
  killThread ticker
  putStrLn "parent ends"
