-- Handles of pipes: reads with time limits, hWaitForInput, hReady, and a reader that is killed or meets the end.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.List (isSuffixOf)
import System.IO
import System.Posix.IO
import System.Timeout
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  i <- fdToHandle r
  o <- fdToHandle w
  hSetBuffering o LineBuffering
  timeout 5000 (hGetLine i) >>= print
  hWaitForInput i 0 >>= print
  hWaitForInput i 5 >>= print
  hReady i >>= print
  -- Half of a line stays in the buffer.
  hPutStr o "half " >> hFlush o
  hWaitForInput i 5000 >>= print
  timeout 5000 (hGetLine i) >>= print
  hPutStrLn o "and half"
  timeout 50000000 (hGetLine i) >>= print
  -- A reader that another thread's write wakes, and one that is killed.
  t <- spawn (hGetLine i)
  hPutStrLn o "line"
  report "reader" t
  t2 <- spawn (hGetLine i)
  killThread (fst t2)
  report "killed" t2
  -- A writer into a full pipe is cut off by the limit.
  timeout 10000 (hPutStr o (replicate 300000 'f')) >>= print
  drainer <- forkIO (forever (hGetChar i))
  timeout 50000000 (hFlush o) >>= print
  killThread drainer
  -- The end of the file, under a reader.
  (r2, w2) <- createPipe
  i2 <- fdToHandle r2
  o2 <- fdToHandle w2
  t3 <- spawn (hGetLine i2)
  hClose o2
  outcome t3 >>= print . isSuffixOf "end of file"
  hClose i2
  (try (hGetLine i2) :: IO (Either IOException String)) >>= putStrLn . either (const "closed") id
