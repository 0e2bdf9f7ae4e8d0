-- 10,000 delays at once, of all lengths, while as many are killed; all end, and none early.
-- skip-order: it measures time, which is virtual
import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Clock

main :: IO ()
main = do
  left <- newIORef (10000 :: Int)
  early <- newIORef (0 :: Int)
  done <- newEmptyMVar
  killed <- forM [1 .. 10000 :: Int] $ \i -> do
    _ <- forkIO $ do
      let us = 1 + (i * 7919) `mod` 100000
      begin <- getMonotonicTimeNSec
      threadDelay us
      end <- getMonotonicTimeNSec
      when (fromIntegral (end - begin) < us * 1000) (atomicModifyIORef' early (\n -> (n + 1, ())))
      n <- atomicModifyIORef' left (\n -> (n - 1, n - 1))
      when (n == 0) (putMVar done ())
    if i `mod` 4 == 0 then (: []) <$> forkIO (threadDelay 100000000) else return []
  mapM_ killThread (concat killed)
  takeMVar done
  readIORef early >>= print
  -- Again and again in a hundred threads.
  vs <- forM [1 .. 100 :: Int] $ \i -> do
    v <- newEmptyMVar
    _ <- forkIO (replicateM_ 20 (threadDelay (i * 10)) >> putMVar v i)
    return v
  mapM takeMVar vs >>= print . sum
