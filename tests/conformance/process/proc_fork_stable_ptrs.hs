-- Children of a process in which C keeps using the table of stable pointers: the child finds it usable.
-- ghc: -O -threaded
-- c: proc_fork_stable_ptrs_c.c
-- compare: stdout exit
import Control.Monad
import Foreign.StablePtr
import System.Exit
import System.Posix.Process

foreign import ccall unsafe "start_locking" startLocking :: IO ()

main :: IO ()
main = do
  startLocking
  forM_ [1 .. 40 :: Int] $ \_ -> do
    child <- forkProcess (newStablePtr () >>= freeStablePtr)
    status <- getProcessStatus True False child
    unless (status == Just (Exited ExitSuccess)) (print status)
