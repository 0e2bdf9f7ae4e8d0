-- Waiting on descriptors without OS threads.
-- ghc: -O
import Control.Concurrent
import Control.Monad
import System.Posix.IO

main :: IO ()
main = do
  pipes <- replicateM 10 createPipe
  forM_ (zip pipes (tail pipes)) $ \((a, _), (_, b)) -> forkIO $ do
    threadWaitRead a
    (s, _) <- fdRead a 100
    void (fdWrite b ('.' : s))
  ticks <- newMVar (0 :: Int)
  t <- forkIO (forever (modifyMVar_ ticks (return . (+ 1)) >> threadDelay 500))
  _ <- forkIO (threadDelay 5000 >> void (fdWrite (snd (head pipes)) "go"))
  let end = fst (last pipes)
  threadWaitRead end
  fdRead end 100 >>= putStrLn . fst
  killThread t
  n <- readMVar ticks
  print (n > 1)
