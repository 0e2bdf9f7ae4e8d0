-- What threadStatus says of threads that wait for time, descriptors and both.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import GHC.Conc (threadStatus)
import System.Posix.IO
import System.Timeout
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  _ <- fill w
  (r2, _) <- createPipe
  v <- registerDelay 100000000
  (wait, _) <- threadWaitReadSTM r2
  ts <- sequence
    [ spawn (threadDelay 100000000), spawn (threadWaitRead r2), spawn (threadWaitWrite w)
    , spawn (atomically (readTVar v >>= check)), spawn (atomically wait)
    , spawn (void (timeout 100000000 (threadWaitRead r2))), spawn (void (timeout 100000000 (threadDelay 100000000)))
    , spawnBy forkOS (threadWaitRead r2)
    ]
  threadDelay 5000
  mapM_ (threadStatus . fst >=> print) ts
  mapM_ (killThread . fst) ts
  mapM_ (report "killed") ts
  mapM_ (threadStatus . fst >=> print) ts
  print (r /= w)
