-- The main thread ends while others wait for time, descriptors and transactions: the program ends at once, and
-- none of them goes on.
import Control.Concurrent
import Control.Concurrent.STM
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
  v <- registerDelay 100000000
  _ <- spawn (atomically (readTVar v >>= check) >> odd')
  _ <- spawnBy forkOS (threadWaitRead r2 >> odd')
  (wait, _) <- threadWaitReadSTM r2
  _ <- spawn (uninterruptibleMask_ (atomically wait) >> odd')
  putStrLn "the end" `finally` exitWith (ExitFailure 3)
