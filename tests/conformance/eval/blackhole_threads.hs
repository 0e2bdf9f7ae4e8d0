-- Several threads demand one slow thunk: they wait for its owner and all see one result.
import Control.Concurrent
import Control.Exception
import System.IO.Unsafe

pure' :: Int -> Int
pure' n = length (filter even (map (`mod` 7) [1 .. n * 40000]))
{-# NOINLINE pure' #-}

slow :: Int -> Int
slow n = unsafePerformIO (threadDelay 20000 >> return (n * 2))
{-# NOINLINE slow #-}

main :: IO ()
main = do
  n <- newEmptyMVar
  let t = slow 21
      failing = unsafePerformIO (threadDelay 20000 >> throwIO (userError "late")) :: Int
  vs <- mapM (\_ -> do { v <- newEmptyMVar; _ <- forkIO (evaluate t >>= putMVar v); return v }) [1 .. 10 :: Int]
  mapM takeMVar vs >>= print
  es <- mapM (\_ -> do
    v <- newEmptyMVar
    _ <- forkIO (try (evaluate failing) >>= putMVar v . either (\e -> show (e :: IOException)) show)
    return v) [1 .. 5 :: Int]
  mapM takeMVar es >>= print
  putMVar n ()
  -- The owner is killed while others wait: one of them takes over and the value is right.
  let t2 = pure' 50
  owner <- forkIO (evaluate t2 >> return ())
  yield
  ws <- mapM (\_ -> do { v <- newEmptyMVar; _ <- forkIO (evaluate t2 >>= putMVar v); return v }) [1 .. 5 :: Int]
  threadDelay 2000
  killThread owner
  mapM takeMVar ws >>= print
