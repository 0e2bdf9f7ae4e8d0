-- A stack limit becomes a StackOverflow exception that can be caught, more than once, in main and in another thread.
-- args: +RTS -K1m -RTS
import Control.Concurrent
import Control.Exception

count :: Int -> Int
count 0 = 0
count n = 1 + count (n - 1)
{-# NOINLINE count #-}

attempt :: Int -> IO String
attempt n = do
  r <- try (evaluate (count n))
  return (either (\e -> "caught " ++ show (e :: AsyncException)) show r)

main :: IO ()
main = do
  attempt 1000 >>= putStrLn
  attempt 10000000 >>= putStrLn
  attempt 2000 >>= putStrLn
  v <- newEmptyMVar
  _ <- forkIO (attempt 10000001 >>= putMVar v)
  takeMVar v >>= putStrLn
  attempt 10000002 >>= putStrLn
