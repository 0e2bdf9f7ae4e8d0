-- MVars: a token passed between two forked threads, round a ring, and through a contended lock.
-- args: 2500000
import Control.Concurrent
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  a <- newEmptyMVar
  b <- newEmptyMVar
  done <- newEmptyMVar
  _ <- forkIO (replicateM_ n (takeMVar a >>= \x -> putMVar b $! x + 1))
  _ <- forkIO (putMVar a (0 :: Int) >> replicateM_ (n - 1) (takeMVar b >>= \x -> putMVar a $! x + 1) >> takeMVar b >>= putMVar done)
  takeMVar done >>= print
  slots <- replicateM 100 newEmptyMVar
  forM_ (zip slots (tail slots ++ [head slots])) $ \(x, y) -> forkIO $ forever $ do
    v <- takeMVar x
    if v >= n then putMVar done v else putMVar y (v + 1)
  putMVar (head slots) 0
  takeMVar done >>= print
  m <- newMVar 0
  forM_ [1 .. 10 :: Int] $ \_ -> forkIO (replicateM_ (n `div` 10) (modifyMVar_ m (\x -> return $! x + 1)) >> putMVar done 0)
  replicateM_ 10 (takeMVar done)
  readMVar m >>= print
