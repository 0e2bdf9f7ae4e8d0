-- An interruptible foreign call is cut short by killThread; a safe one delays it until it returns.
{-# LANGUAGE InterruptibleFFI #-}
import Control.Concurrent
import Control.Exception
import Foreign.C
import System.Timeout

foreign import ccall interruptible "unistd.h usleep" usleepI :: CUInt -> IO CInt
foreign import ccall safe "unistd.h usleep" usleepS :: CUInt -> IO CInt

main :: IO ()
main = do
  out <- newEmptyMVar
  t <- forkIO ((usleepI 900000 >> usleepI 900000 >> usleepI 900000 >> usleepI 900000 >> usleepI 900000 >> putMVar out "slept") `catch` \e -> putMVar out (show (e :: AsyncException)))
  threadDelay 20000
  killThread t
  r <- timeout 2000000 (takeMVar out)
  print r
  t2 <- forkIO ((usleepS 60000 >> putMVar out "slept") `catch` \e -> putMVar out (show (e :: AsyncException)))
  threadDelay 10000
  killThread t2
  takeMVar out >>= putStrLn
