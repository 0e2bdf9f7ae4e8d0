-- Threads wait for descriptors, and one of them is killed: the others still wake.
-- ghc: -O
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Posix.IO

main :: IO ()
main = do
  pipes <- replicateM 5 createPipe
  results <- forM (zip [1 :: Int ..] pipes) $ \(i, (from, _)) -> do
    started <- newEmptyMVar
    done <- newEmptyMVar
    t <- forkIO $ do
      r <- try (putMVar started () >> threadWaitRead from)
      putMVar done (i, show (r :: Either AsyncException ()))
    -- A thread that is killed before its handler is installed ends without a word.
    takeMVar started
    return (t, done)
  -- All wait from here on.
  yield
  threadDelay 1000
  forM_ [1, 3] $ \i -> killThread (fst (results !! i))
  forM_ pipes $ \(_, to) -> fdWrite to "x"
  forM_ results $ \(_, done) -> takeMVar done >>= print
