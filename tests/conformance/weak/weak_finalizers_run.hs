-- Every finalizer of unreachable objects runs exactly once, including those that run at program end.
import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Mem
import System.Mem.Weak

main :: IO ()
main = do
  count <- newIORef (0 :: Int)
  forM_ [1 .. 500 :: Int] $ \i -> do
    r <- newIORef i
    mkWeakIORef r (atomicModifyIORef' count (\n -> (n + 1, ())))
  performMajorGC
  let wait :: Int -> IO ()
      wait k = do
        n <- readIORef count
        when (n < 500 && k > 0) (threadDelay 1000 >> performMajorGC >> wait (k - 1))
  wait 200
  readIORef count >>= print
  performMajorGC
  yield
  readIORef count >>= print
  -- A finalizer that raises does not stop the others.
  ok <- newIORef (0 :: Int)
  forM_ [1 .. 10 :: Int] $ \i -> do
    r <- newIORef i
    mkWeakIORef r (if i == 5 then ioError (userError "in finalizer") else atomicModifyIORef' ok (\n -> (n + 1, ())))
  performMajorGC
  let wait2 k = readIORef ok >>= \n -> when (n < 9 && k > (0 :: Int)) (threadDelay 1000 >> performMajorGC >> wait2 (k - 1))
  wait2 200
  readIORef ok >>= print
  -- A finalizer brings its object back.
  saved <- newIORef Nothing
  obj <- newIORef "resurrected"
  _ <- mkWeak obj () (Just (writeIORef saved (Just obj)))
  performMajorGC
  let wait3 k = readIORef saved >>= \s -> case s of { Nothing | k > (0 :: Int) -> threadDelay 1000 >> performMajorGC >> wait3 (k - 1); _ -> return () }
  wait3 200
  readIORef saved >>= maybe (putStrLn "lost") (\r -> readIORef r >>= putStrLn)
