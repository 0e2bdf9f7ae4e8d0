-- Without OS threads, the main thread ends while others wait for time and descriptors.
-- ghc: -O
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Exit
import System.Posix.IO
import System.Posix.Signals
import System.Timeout
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  _ <- fill w
  (r2, _) <- createPipe
  _ <- installHandler sigUSR1 (Catch (putStrLn "a handler")) Nothing
  let odd' = putStrLn "goes on"
  replicateM_ 3 (spawn (threadWaitRead r2 >> odd'))
  replicateM_ 3 (spawn (threadWaitWrite w >> odd'))
  replicateM_ 3 (spawn (threadDelay 100000000 >> odd'))
  replicateM_ 3 (spawn (timeout 100000000 (threadWaitRead r2) >> odd'))
  putStrLn "the end" `finally` exitWith (ExitFailure 3)
