-- A safe call that blocks in C lets the other Haskell threads go on; many block at once.
import Control.Concurrent
import Control.Monad
import Data.IORef
import Foreign.C

foreign import ccall safe "unistd.h usleep" usleep :: CUInt -> IO CInt

main :: IO ()
main = do
  n <- newIORef (0 :: Int)
  done <- newEmptyMVar
  _ <- forkIO (usleep 100000 >> putMVar done ())
  ticker <- forkIO (forever (modifyIORef' n (+ 1) >> yield))
  takeMVar done
  k <- readIORef n
  print (k > 100)
  killThread ticker
  forM_ [1 .. 20 :: Int] $ \_ -> forkIO (usleep 50000 >> putMVar done ())
  replicateM_ 20 (takeMVar done)
  putStrLn "twenty sleepers done"
