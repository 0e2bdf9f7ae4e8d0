-- MVar operations between two threads that take turns.
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  a <- newEmptyMVar
  b <- newEmptyMVar
  _ <- forkIO $ forM_ [1 .. 5 :: Int] $ \i -> do
    x <- takeMVar a
    putStrLn ("child " ++ show (x :: Int))
    putMVar b (x * i)
  forM_ [10, 20 .. 50] $ \i -> do
    putMVar a i
    takeMVar b >>= \y -> putStrLn ("main " ++ show y)
  m <- newMVar (0 :: Int)
  modifyMVar_ m (return . (+ 1))
  v <- modifyMVar m (\x -> return (x + 1, x * 10))
  w <- readMVar m
  s <- swapMVar m 99
  print (v, w, s)
  t1 <- tryTakeMVar m
  t2 <- tryTakeMVar m
  p1 <- tryPutMVar m 5
  p2 <- tryPutMVar m 6
  r1 <- tryReadMVar m
  e <- isEmptyMVar m
  print (t1, t2, p1, p2, r1, e)
  withMVar m print
