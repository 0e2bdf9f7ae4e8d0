-- On several HECs: a transaction that sees two variables that never differ differ would loop for ever; it is started
-- again instead.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

spin :: [TVar Int] -> Int -> STM Int
spin (v : vs) n = do
  x <- readTVar v
  spin (vs ++ [v]) (n + x)
spin [] n = pure n

main :: IO ()
main = do
  a <- newTVarIO (0 :: Int)
  b <- newTVarIO 0
  others <- replicateM 50 (newTVarIO 0)
  stop <- newTVarIO False
  writer <- newEmptyMVar
  _ <- forkIO $ do
    let go :: Int -> IO Int
        go n = do
          end <- atomically $ do
            modifyTVar' a (+ 1)
            modifyTVar' b (+ 1)
            readTVar stop
          if end then pure n else go (n + 1)
    n <- go 0
    putMVar writer (n > 0)
  -- Otherwise it may all be over before the writer has begun.
  atomically (readTVar a >>= check . (> 0))
  dones <- forM [1 .. 3 :: Int] $ \_ -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 300 :: Int] $ \_ -> do
        r <- atomically $ do
          x <- readTVar a
          mapM_ readTVar (take 20 others)
          y <- readTVar b
          if x /= y then spin others 0 else pure 0
        when (r /= 0) $ putStrLn "saw what never was"
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  atomically (writeTVar stop True)
  takeMVar writer >>= print
