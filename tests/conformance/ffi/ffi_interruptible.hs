-- An interruptible foreign call is cut short by killThread; a safe one delays it until it returns.
{-# LANGUAGE InterruptibleFFI #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign hiding (void)
import Foreign.C
import GHC.Conc

foreign import ccall interruptible "unistd.h usleep" usleepI :: CUInt -> IO CInt
foreign import ccall safe "unistd.h usleep" usleepS :: CUInt -> IO CInt
foreign import ccall unsafe "pipe" c_pipe :: Ptr CInt -> IO CInt
foreign import ccall safe "read" c_read :: CInt -> Ptr Word8 -> CSize -> IO CSize
foreign import ccall unsafe "write" c_write :: CInt -> Ptr Word8 -> CSize -> IO CSize

-- Waits until the thread throws to another one.
throws :: ThreadId -> IO ()
throws t = threadStatus t >>= \s -> when (s /= ThreadBlocked BlockedOnException) (threadDelay 1000 >> throws t)

-- A call that ends when main has thrown, if others run meanwhile.
safeCall :: ThreadId -> IO ()
safeCall thrower
  | rtsSupportsBoundThreads = allocaArray 2 $ \ends -> alloca $ \byte -> do
      _ <- c_pipe ends
      [from, to] <- peekArray 2 ends
      _ <- forkIO (throws thrower >> poke byte 1 >> void (c_write to byte 1))
      void (c_read from byte 1)
  | otherwise = void (usleepS 60000)

main :: IO ()
main = do
  out <- newEmptyMVar
  -- (If it is not cut short, this takes longer than any program here has time.)
  t <- forkIO ((replicateM_ 200 (usleepI 900000) >> putMVar out "slept") `catch` \e -> putMVar out (show (e :: AsyncException)))
  threadDelay 20000
  killThread t
  takeMVar out >>= print
  main' <- myThreadId
  begun <- newEmptyMVar
  t2 <- forkIO ((putMVar begun () >> safeCall main' >> putMVar out "slept") `catch` \e -> putMVar out (show (e :: AsyncException)))
  takeMVar begun
  threadDelay 10000
  killThread t2
  takeMVar out >>= putStrLn
