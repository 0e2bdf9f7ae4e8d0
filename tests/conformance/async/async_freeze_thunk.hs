-- A long pure computation interrupted many times keeps the work done and ends with the right value.
import Control.Concurrent
import Control.Exception
import Data.IORef
import System.IO.Unsafe

progress :: IORef Int
progress = unsafePerformIO (newIORef 0)
{-# NOINLINE progress #-}

step :: Int -> Int
step n = unsafePerformIO (modifyIORef' progress (+ 1) >> return (n * 2 + 1))
{-# NOINLINE step #-}

main :: IO ()
main = do
  let xs = map step [1 .. 20000]
      total = foldr (\a b -> a + b) 0 xs
      nested = total + sum (map (`mod` 7) xs) + length (show (product [1 .. 1500 :: Integer]))
      attempt :: Int -> IO Int
      attempt k = do
        v <- newEmptyMVar
        t <- forkIO (evaluate nested >> putMVar v True `catch` \e -> throwIO (e :: AsyncException))
        _ <- forkIO (mapM_ (const yield) [1 .. k `mod` 3] >> killThread t >> putMVar v False)
        r <- takeMVar v
        if r then return k else if k > 40 then return k else attempt (k + 1)
  k <- attempt 0
  print (k >= 0)
  print nested
  -- Each list element was computed once for all attempts together.
  readIORef progress >>= print
  -- Freezing with many update frames and a handler inside.
  let deep :: Int -> Int
      deep 0 = length (filter even [1 .. 200000 :: Int])
      deep n = let r = deep (n - 1) in r `seq` (unsafePerformIO (evaluate r `catch` \e -> throwIO (e :: ArithException)) + 1)
      d = deep 200
  t <- forkIO (evaluate d >> return ())
  yield
  killThread t
  print d
