-- Threads that spend their time in safe foreign calls, during which nobody else can run, take turns, and let main wake
-- up in time.
-- ghc: -O
-- skip-order: it compares a delay with calls; time is virtual, but for these
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign
import Foreign.C

foreign import ccall safe "poll" poll :: Ptr () -> CULong -> CInt -> IO CInt

-- Allocates some kilobytes.
factorial :: Integer -> Integer
factorial n = length (show (product [1 .. n])) `seq` n

main :: IO ()
main = do
  counts <- replicateM 2 (newIORef 0)
  whole <- newIORef (0 :: Int)
  forM_ counts $ \c -> forkIO $ forever $ do
    r <- poll nullPtr 0 100
    when (r == 0) (modifyIORef' whole (+ 1))
    n <- readIORef c
    _ <- evaluate (factorial (100 + n `rem` 2))
    writeIORef c $! n + 1
  threadDelay 500000
  -- Five calls that no signal cuts short take as long as its delay, however loaded the machine is.
  n <- readIORef whole
  let untilAllCalled = mapM readIORef counts >>= \called -> unless (all (> 0) called) (threadDelay 10000 >> untilAllCalled)
  untilAllCalled
  print (n < 15)
