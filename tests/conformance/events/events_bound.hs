-- Bound threads, the main thread among them, wait for delays, descriptors and time-outs, beside threads not bound.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import System.Posix.IO
import System.Timeout
import Waits

main :: IO ()
main = do
  isCurrentThreadBound >>= print
  (r, w) <- createPipe
  -- The main thread is woken by another, for each kind of wait.
  forM_ [1 .. 10 :: Int] $ \_ -> do
    _ <- forkIO (yield >> void (fdWrite w "x"))
    threadWaitRead r
    fdRead r 1
  (wait, _) <- threadWaitReadSTM r
  _ <- forkOS (threadDelay 1000 >> void (fdWrite w "y"))
  atomically wait
  fdRead r 1 >>= print
  -- Bound threads.
  ts <- forM [1 .. 5 :: Int] $ \i -> spawnBy forkOS $ do
    threadDelay (i * 100)
    b <- isCurrentThreadBound
    x <- timeout 2000 (threadWaitRead r)
    return (b, x)
  mapM_ (report "bound") ts
  readers <- replicateM 3 (spawnBy forkOS (threadWaitRead r >> isCurrentThreadBound))
  other <- spawn (threadWaitRead r >> isCurrentThreadBound)
  killThread (fst (head readers))
  _ <- fdWrite w "z"
  mapM_ (report "reader") readers
  report "not bound" other
  _ <- fdRead r 1
  closed <- spawnBy forkOS (threadWaitRead r)
  closeNow r
  report "closed" closed
  -- Two bound threads send a byte to and fro.
  (a, b) <- socketPair
  back <- spawnBy forkOS (replicateM_ 100 (threadWaitRead b >> fdRead b 1 >>= fdWrite b . fst))
  replicateM_ 100 (fdWrite a "p" >> threadWaitRead a >> fdRead a 1)
  report "to and fro" back
  v <- runInBoundThread (timeout 1000 (threadDelay 100000000))
  x <- runInUnboundThread (timeout 1000 (threadDelay 100000000))
  print (v, x)
  (try (timeout 1000 (runInUnboundThread (threadDelay 100000000))) :: IO (Either SomeException (Maybe ()))) >>= print
