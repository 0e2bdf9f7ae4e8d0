-- A value passed a hundred thousand times between two threads, and between main and another.
import Control.Concurrent
import Control.Monad

bounce :: MVar Int -> MVar Int -> Int -> IO ()
bounce a b n = forM_ [1 .. n] $ \_ -> takeMVar a >>= \x -> putMVar b $! x + 1

main :: IO ()
main = do
  a <- newEmptyMVar
  b <- newEmptyMVar
  done <- newEmptyMVar
  _ <- forkIO (bounce a b 50000)
  _ <- forkIO (putMVar a 0 >> bounce b a 49999 >> takeMVar b >>= putMVar done)
  takeMVar done >>= print
  c <- newEmptyMVar
  d <- newEmptyMVar
  _ <- forkIO (bounce c d 5000)
  x <- foldM (\x _ -> putMVar c x >> takeMVar d) 0 [1 .. 5000 :: Int]
  print x
