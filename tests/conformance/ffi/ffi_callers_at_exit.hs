-- The program ends in order, with all that it has written, while forkOS begins threads and C threads call back.
-- ghc: -O -threaded
-- c: ffi_callers_at_exit_c.c
import Control.Concurrent
import Control.Monad
import Foreign.Ptr
import System.Posix.IO

foreign import ccall "wrapper" callback :: IO () -> IO (FunPtr (IO ()))
foreign import ccall "call_forever" callForever :: FunPtr (IO ()) -> IO ()

main :: IO ()
main = do
  -- The stock runtime tells of calls that the end of the program interrupts.
  nowhere <- openFd "/dev/null" WriteOnly Nothing defaultFileFlags
  _ <- dupTo nowhere 2
  ready <- newEmptyMVar
  callback yield >>= callForever
  replicateM_ 8 (forkIO (putMVar ready () >> forever (forkOS (return ()) >> yield)))
  replicateM_ 8 (takeMVar ready)
  threadDelay 2000
  putStrLn "done"
