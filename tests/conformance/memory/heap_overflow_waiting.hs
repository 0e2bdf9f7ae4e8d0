-- A main thread that waits while another thread fills the heap is told in time to stop that one.
-- args: +RTS -M6m -Mgrace=8m -RTS
import Control.Concurrent
import Control.Exception
import Data.IORef
import System.Mem

fill :: IORef [Integer] -> Integer -> IO ()
fill kept n = modifyIORef' kept (n :) >> fill kept (n + 1)

main :: IO ()
main = do
  kept <- newIORef []
  done <- newEmptyMVar
  child <- forkIO (fill kept 0 `finally` putMVar done ())
  r <- try (takeMVar done)
  killThread child
  writeIORef kept []
  performMajorGC
  print (either (\e -> show (e :: AsyncException)) show r)
  takeMVar done
