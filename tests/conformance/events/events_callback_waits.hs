-- A callback from C waits, in bound threads and others: for bytes, room, time, limits, exceptions, a close.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.Ptr
import System.Posix.IO
import System.Timeout
import Waits

foreign import ccall "wrapper" wrap :: IO () -> IO (FunPtr (IO ()))
foreign import ccall safe "dynamic" call :: FunPtr (IO ()) -> IO ()

waits :: String -> IO ()
waits who = do
  isCurrentThreadBound >>= \b -> putStrLn (who ++ ", bound: " ++ show b)
  (r, w) <- createPipe
  _ <- forkIO (threadDelay 3000 >> void (fdWrite w "bytes"))
  threadWaitRead r
  fdRead r 10 >>= print
  n <- fill w
  _ <- forkIO (threadDelay 3000 >> void (fdRead r (fromIntegral n)))
  threadWaitWrite w
  threadDelay 2000
  timeout 5000 (threadWaitRead r >> threadWaitRead r >> threadDelay 100000000) >>= print
  me <- myThreadId
  _ <- forkIO (threadDelay 5000 >> throwTo me Overflow)
  (try (threadDelay 100000000) :: IO (Either ArithException ())) >>= print
  (r2, _) <- createPipe
  _ <- forkIO (threadDelay 5000 >> closeNow r2)
  (try (threadWaitRead r2) :: IO (Either IOException ())) >>= print

main :: IO ()
main = do
  callback <- wrap (waits "callback")
  call callback
  done <- newEmptyMVar
  _ <- forkIO (call callback >> waits "forkIO" >> putMVar done ())
  takeMVar done
