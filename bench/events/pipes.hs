-- A byte goes along a chain of pipes, with a thread that waits at each. Arguments: how many pipes, and how often.
-- Prints the microseconds that the byte takes from one pipe to the next.
import Control.Concurrent
import Control.Monad
import GHC.Clock
import System.Environment
import System.Posix.IO
import System.Posix.Types

main :: IO ()
main = do
  [length, rounds] <- map read <$> getArgs
  pipes <- replicateM (length + 1) pipe
  forM_ (zip pipes (tail pipes)) $ \((from, _), (_, to)) -> forkIO . forever $ receive from >> send to
  let once = send (snd (head pipes)) >> receive (fst (last pipes))
  once
  before <- getMonotonicTimeNSec
  replicateM_ rounds once
  after <- getMonotonicTimeNSec
  print (fromIntegral (after - before) / 1000 / fromIntegral (rounds * (length + 1)) :: Double)

pipe :: IO (Fd, Fd)
pipe = do
  (from, to) <- createPipe
  forM_ [from, to] $ \end -> setFdOption end NonBlockingRead True
  return (from, to)

receive :: Fd -> IO ()
receive from = threadWaitRead from >> void (fdRead from 1)

send :: Fd -> IO ()
send to = void (fdWrite to "x")
