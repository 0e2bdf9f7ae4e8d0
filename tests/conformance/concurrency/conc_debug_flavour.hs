-- Threads, MVars, STM and asynchronous exceptions under the threaded debug flavour.
-- ghc: -O -debug -threaded
-- skip-kinds: Lifo-N1; a thread that computes or yields for ever runs alone under this order
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad

main :: IO ()
main = do
  v <- newTVarIO (0 :: Int)
  ts <- forM [1 .. 50 :: Int] $ \_ -> forkIO (forever (atomically (modifyTVar' v (+ 1)) >> yield))
  atomically (readTVar v >>= check . (> 500))
  mapM_ killThread ts
  done <- newEmptyMVar
  forM_ [1 .. 50] $ \i -> forkFinally (evaluate (product [1 .. i :: Integer])) (putMVar done . either (const 0) id)
  xs <- replicateM 50 (takeMVar done)
  print (length xs, sum xs `mod` 1000003)
