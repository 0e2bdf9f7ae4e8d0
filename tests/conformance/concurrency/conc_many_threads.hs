-- Ten thousand threads, each with its own MVar, all finishing.
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  vs <- forM [1 .. 10000 :: Int] $ \i -> do
    v <- newEmptyMVar
    _ <- forkIO (putMVar v $! i * 2)
    return v
  mapM takeMVar vs >>= print . sum
  -- A chain: each waits for the one before.
  first <- newEmptyMVar
  lastV <- foldM (\prev _ -> do { v <- newEmptyMVar; _ <- forkIO (takeMVar prev >>= \x -> putMVar v $! x + 1); return v }) first [1 .. 10000 :: Int]
  putMVar first (0 :: Int)
  takeMVar lastV >>= print
