-- What the event manager opens is closed in a program that is executed, by process and by forkProcess and exec.
-- c: events_exec_descriptors_c.c
-- needs: process
-- skip-kinds: -N4; it takes HECs away, and a scheduler of the package keeps those that it has
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import System.Posix.IO
import System.Posix.Process
import System.Posix.Signals
import System.Process (readProcess)
import System.Timeout
import Waits

-- Lists the descriptors above 2, without those that the listing itself opens.
list :: String
list = "for f in /proc/$$/fd/*; do n=${f##*/}; test \"$n\" -gt 2 && test -e $f && readlink $f; done; echo end"

main :: IO ()
main = do
  (r, w) <- createPipe
  mapM_ (\fd -> setFdOption fd CloseOnExec True) [r, w]
  -- All parts of the manager are in use, on several HECs.
  setNumCapabilities 2
  waiters <- forM [0, 1] (\n -> spawnBy (forkOn n) (threadWaitRead r))
  v <- registerDelay 100000000
  waiting <- spawn (atomically (readTVar v >>= check))
  _ <- timeout 1000 (threadDelay 100000)
  _ <- installHandler sigUSR1 (Catch (return ())) Nothing
  raiseSignal sigUSR1
  readProcess "sh" ["-c", list] "" >>= putStr
  (from, to) <- createPipe
  child <- forkProcess $ do
    _ <- dupTo to stdOutput
    mapM_ closeFd [from, to]
    threadDelay 1000
    executeFile "sh" True ["-c", list] Nothing
  closeFd to
  getProcessStatus True False child >>= print
  threadWaitRead from
  (s, _) <- fdRead from 10000
  putStr s
  _ <- fdWrite w "x"
  mapM_ (report "waiter") waiters
  killThread (fst waiting)
