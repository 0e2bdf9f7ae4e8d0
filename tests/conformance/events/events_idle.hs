-- A program that waits, with long delays, time-outs and descriptors pending, does not wake up again and again.
import Control.Concurrent
import Control.Monad
import Data.Char (isDigit)
import Data.List (isSuffixOf)
import Foreign.C
import System.Directory (listDirectory)
import System.Posix.IO
import System.Timeout
import Waits

foreign import ccall safe "usleep" c_usleep :: CUInt -> IO CInt

-- Context switches of all OS threads so far.
switches :: IO Int
switches = do
  tasks <- filter (all isDigit) <$> listDirectory "/proc/self/task"
  fmap sum $ forM tasks $ \t -> do
    s <- readFile ("/proc/self/task/" ++ t ++ "/status")
    return (sum [read n | [k, n] <- map words (lines s), "voluntary_ctxt_switches:" `isSuffixOf` k])

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
