-- threadDelay order without OS threads.
-- ghc: -O
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  out <- newChan
  forM_ [5, 2, 8, 1, 4, 7, 3, 6 :: Int] $ \i -> forkIO (threadDelay (i * 200000) >> writeChan out i)
  replicateM 8 (readChan out) >>= print
  done <- newEmptyMVar
  forM_ [1 .. 500 :: Int] $ \i -> forkIO (threadDelay (1000 + i) >> putMVar done i)
  xs <- replicateM 500 (takeMVar done)
  print (sum xs)
