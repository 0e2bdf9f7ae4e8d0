-- Threads that spend their time in safe foreign calls, during which nobody else can run, take turns, and let main wake up in time.
-- ghc: -O
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign
import Foreign.C
import GHC.Clock

foreign import ccall safe "poll" poll :: Ptr () -> CULong -> CInt -> IO CInt

-- Allocates some kilobytes.
factorial :: Integer -> Integer
factorial n = length (show (product [1 .. n])) `seq` n

main :: IO ()
main = do
  begun <- getMonotonicTime
  counts <- replicateM 2 (newIORef 0)
  forM_ counts $ \c -> forkIO $ forever $ do
    _ <- poll nullPtr 0 100
    n <- readIORef c
    _ <- evaluate (factorial (100 + n `rem` 2))
    writeIORef c $! n + 1
  threadDelay 500000
  called <- mapM readIORef counts
  ended <- getMonotonicTime
  print (all (> 0) called, ended - begun < 2)
