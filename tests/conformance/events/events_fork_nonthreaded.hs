-- Without OS threads, forkProcess while the parent has waiters, which do not go on in the child.
-- ghc: -O
-- needs: unix
import Control.Concurrent
import Control.Monad
import System.Exit
import System.IO
import System.Posix.IO
import System.Posix.Process
import System.Timeout
import Waits

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  (r, w) <- createPipe
  here <- getProcessID
  let astray = getProcessID >>= \p -> when (p /= here) (putStrLn "goes on in the child")
  readers <- replicateM 3 (spawn (threadWaitRead r >> astray))
  sleeper <- spawn (threadDelay 20000 >> astray)
  child <- forkProcess $ do
    threadDelay 1000
    (r2, w2) <- createPipe
    t <- spawn (threadWaitRead r2 >> fdRead r2 10)
    _ <- fdWrite w2 "own"
    report "child" t
    timeout 3000 (threadWaitRead r) >>= print
    -- Longer than the parent's delay.
    threadDelay 40000
    exitWith (ExitFailure 9)
  getProcessStatus True False child >>= print
  report "delay" sleeper
  _ <- fdWrite w "x"
  mapM_ (report "reader") readers
