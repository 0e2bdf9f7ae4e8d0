-- Thousands of suspended threads with live stacks of different depth survive collections and then finish.
import Control.Concurrent
import Control.Monad
import System.Mem

deep :: MVar () -> Int -> IO Int
deep gate 0 = readMVar gate >> return 0
deep gate n = do
  x <- deep gate (n - 1)
  return $! x + n

main :: IO ()
main = do
  gate <- newEmptyMVar
  outs <- forM [1 .. 2000] $ \i -> do
    out <- newEmptyMVar
    _ <- forkIO (deep gate (i `mod` 150) >>= putMVar out)
    return out
  yield
  performMajorGC
  performMinorGC
  putMVar gate ()
  rs <- mapM takeMVar outs
  print (sum rs)
  performMajorGC
  print (length rs)
