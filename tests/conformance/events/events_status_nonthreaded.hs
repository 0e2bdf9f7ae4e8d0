-- What threadStatus says of waiting threads, without OS threads.
-- ghc: -O
-- skip-hecs: with -threaded, other reasons are given
import Control.Concurrent
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
  ts <- sequence
    [ spawn (threadDelay 100000000), spawn (threadWaitRead r2), spawn (threadWaitWrite w)
    , spawn (void (timeout 100000000 (threadWaitRead r2))), spawn (void (timeout 100000000 (threadDelay 100000000)))
    ]
  threadDelay 5000
  mapM_ (threadStatus . fst >=> print) ts
  mapM_ (killThread . fst) ts
  mapM_ (report "killed") ts
  mapM_ (threadStatus . fst >=> print) ts
  print (r /= w)
