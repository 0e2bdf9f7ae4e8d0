-- Threads that all want one lock, with work between: each has its turns, and so has one that wants nothing.
-- hecs: 2
import Control.Concurrent
import Control.Monad
import Data.IORef

work :: Int -> Int
work n = length (filter even (scanl (\a i -> (a * 31 + i) `mod` 10007) n [1 .. 40]))

main :: IO ()
main = do
  lock <- newMVar (0 :: Int)
  ended <- newEmptyMVar
  alone <- newIORef (0 :: Int)
  let threads = 5
      turns = 4000 :: Int
  _ <- forkIO $ do
    forM_ [1 .. 300 :: Int] $ \i -> modifyIORef' alone (+ work i)
    putMVar ended 0
  forM_ [1 .. threads] $ \t -> forkIO $ do
    forM_ [1 .. turns] $ \i -> do
      n <- takeMVar lock
      putMVar lock $! n + 1
      when (work (t * i) < 0) $ putStrLn "never"
    putMVar ended t
  done <- replicateM (threads + 1) (takeMVar ended)
  total <- takeMVar lock
  print (sum done, total)
  readIORef alone >>= print
