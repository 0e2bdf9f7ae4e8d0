-- Without OS threads: a program that only waits, for bytes and for long, does not wake up; a short delay is not late.
-- ghc: -O
import Control.Concurrent
import Control.Monad
import GHC.Clock
import System.Mem
import System.Posix.IO
import System.Timeout
import Waits

main :: IO ()
main = do
  (r, _) <- createPipe
  _ <- spawn (threadWaitRead r)
  _ <- spawn (threadDelay 100000000)
  _ <- spawn (timeout 100000000 (threadWaitRead r))
  -- The collection for idle times is over.
  performMajorGC
  threadDelay 500000
  before <- switches
  threadDelay 1000000
  after <- switches
  putStrLn (if after - before < 60 then "idle" else show (after - before) ++ " switches")
  -- Most delays of a millisecond are not late.
  late <- replicateM 30 $ do
    begin <- getMonotonicTime
    threadDelay 1000
    end <- getMonotonicTime
    return (end - begin - 0.001)
  putStrLn (if minimum late < 0.1 && maximum late < 5 then "in time" else show (maximum late))
