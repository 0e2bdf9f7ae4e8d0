-- A thread that computes without end does not stop others: the timer takes the processor away when it allocates.
import Control.Concurrent
import Control.Monad

spin :: Integer -> IO ()
spin n = when (n >= 0) (spin (n + 1))

main :: IO ()
main = do
  t1 <- forkIO (spin (2 ^ (64 :: Int)))
  t2 <- forkIO (forever (return $! length (show (2 ^ (200 :: Int) :: Integer))))
  m <- newMVar (0 :: Int)
  done <- newEmptyMVar
  forM_ [1 .. 4 :: Int] $ \_ -> forkIO $ do
    replicateM_ 4 (modifyMVar_ m (return . (+ 1)) >> yield)
    putMVar done ()
  replicateM_ 4 (takeMVar done)
  readMVar m >>= print
  killThread t1
  killThread t2
  putStrLn "both spinners killed"
