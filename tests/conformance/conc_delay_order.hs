-- threadDelay wakes threads in the order of their deadlines, however they were started.
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  out <- newChan
  forM_ [5, 2, 8, 1, 4, 7, 3, 6 :: Int] $ \i -> forkIO (threadDelay (i * 15000) >> writeChan out i)
  replicateM 8 (readChan out) >>= print
  threadDelay 0
  threadDelay (-5)
  putStrLn "zero and negative delays return"
  _ <- forkIO (threadDelay maxBound)
  putStrLn "an endless delay does not hold up the end"
