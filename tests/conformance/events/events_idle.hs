-- A program that waits, with long delays, time-outs and descriptors pending, does not wake up again and again.
import Control.Concurrent
import Foreign.C
import System.Posix.IO
import System.Timeout
import Waits

foreign import ccall safe "usleep" c_usleep :: CUInt -> IO CInt

main :: IO ()
main = do
  (r, w) <- createPipe
  a <- spawn (threadWaitRead r)
  b <- spawn (threadDelay 100000000)
  c <- spawn (timeout 100000000 (threadWaitRead r))
  threadDelay 50000
  before <- switches
  _ <- c_usleep 500000
  after <- switches
  print (after - before < 60)
  _ <- fdWrite w "x"
  report "reader" a
  report "limited" c
  killThread (fst b)
