-- Many threads: tens of thousands alive at once, each with an MVar, in a fan and in a chain.
-- args: 40000
import Control.Concurrent
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  forM_ [1 .. 3 :: Int] $ \_ -> do
    gate <- newEmptyMVar
    vs <- forM [1 .. n] $ \i -> do
      v <- newEmptyMVar
      _ <- forkIO (readMVar gate >>= \g -> putMVar v $! g + i)
      return v
    putMVar gate 1
    s <- foldM (\acc v -> (\x -> (acc + x) `mod` 1000003) <$> takeMVar v) 0 vs
    print s
  first <- newEmptyMVar
  end <- foldM (\p _ -> do { q <- newEmptyMVar; _ <- forkIO (takeMVar p >>= \x -> putMVar q $! x + 1); return q }) first [1 .. n]
  putMVar first (0 :: Int)
  takeMVar end >>= print
