-- Chan, QSem and QSemN: order of delivery, duplication, limits respected.
import Control.Concurrent
import Control.Monad
import Data.IORef

main :: IO ()
main = do
  ch <- newChan
  dup <- dupChan ch
  _ <- forkIO (forM_ [1 .. 1000 :: Int] (writeChan ch))
  xs <- replicateM 1000 (readChan ch)
  print (xs == [1 .. 1000])
  ys <- replicateM 10 (readChan dup)
  print ys
  writeList2Chan ch [2001, 2002]
  zs <- getChanContents ch
  print (take 2 zs)
  sem <- newQSem 3
  active <- newIORef (0 :: Int)
  peak <- newIORef 0
  done <- newEmptyMVar
  forM_ [1 .. 20 :: Int] $ \_ -> forkIO $ do
    waitQSem sem
    n <- atomicModifyIORef' active (\n -> (n + 1, n + 1))
    atomicModifyIORef' peak (\p -> (max p n, ()))
    replicateM_ 3 yield
    atomicModifyIORef' active (\k -> (k - 1, ()))
    signalQSem sem
    putMVar done ()
  replicateM_ 20 (takeMVar done)
  p <- readIORef peak
  print (p <= 3, p >= 1)
  semN <- newQSemN 0
  r <- newEmptyMVar
  _ <- forkIO (waitQSemN semN 5 >> putMVar r "five")
  forM_ [1 .. 5 :: Int] $ \_ -> signalQSemN semN 1
  takeMVar r >>= putStrLn
