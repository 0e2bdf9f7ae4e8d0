-- unsafeInterleaveIO runs an action at most once, on demand, also when several threads demand it.
import Control.Concurrent
import Control.Exception
import Data.IORef
import System.IO.Unsafe

main :: IO ()
main = do
  n <- newIORef (0 :: Int)
  x <- unsafeInterleaveIO (modifyIORef n (+ 1) >> return 'x')
  readIORef n >>= print
  print (x, x)
  readIORef n >>= print
  y <- unsafeInterleaveIO (atomicModifyIORef' n (\k -> (k + 1, ())) >> threadDelay 5000 >> return 'y')
  vs <- mapM (\_ -> do { v <- newEmptyMVar; _ <- forkIO (putMVar v $! y); return v }) [1 .. 6 :: Int]
  mapM takeMVar vs >>= putStrLn
  readIORef n >>= print
  z <- unsafeInterleaveIO (throwIO (userError "late"))
  r <- try (evaluate (z :: Int))
  print (r :: Either IOException Int)
  let list k = unsafeInterleaveIO (modifyIORef n (+ 1) >> fmap (k :) (list (k + 1)))
  xs <- list (0 :: Int)
  print (take 5 xs)
  readIORef n >>= print
  w <- unsafeInterleaveIO (fixed >>= \q -> return (q + 1))
  print w
  where fixed = return (41 :: Int)
