-- On several HECs: channels keep order for each writer, and a semaphore never lets in more than it should.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List

main :: IO ()
main = do
  c <- newChan
  forM_ [1 .. 8 :: Int] $ \k -> forkIO $ forM_ [1 .. 300 :: Int] $ \i -> writeChan c (k, i)
  xs <- replicateM 2400 (readChan c)
  print [map snd (filter ((== k) . fst) xs) == [1 .. 300] | k <- [1 .. 8]]
  sem <- newQSem 3
  inside <- newIORef (0 :: Int)
  most <- newIORef (0 :: Int)
  dones <- forM [1 .. 12 :: Int] $ \_ -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      replicateM_ 100 $ bracket_ (waitQSem sem) (signalQSem sem) $ do
        n <- atomicModifyIORef' inside (\n -> (n + 1, n + 1))
        atomicModifyIORef' most (\m -> (max m n, ()))
        yield
        atomicModifyIORef' inside (\m -> (m - 1, ()))
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  m <- readIORef most
  n <- readIORef inside
  print (m <= 3, n, sort [1 :: Int, 0])
