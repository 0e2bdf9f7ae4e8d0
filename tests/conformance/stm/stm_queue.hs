-- Bounded and unbounded queues between producers and consumers; a barrier; TMVar and TChan.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

main :: IO ()
main = do
  q <- newTBQueueIO 5
  results <- newTVarIO (0 :: Int, 0 :: Int)
  forM_ [1 .. 4] $ \p -> forkIO (forM_ [1 .. 250] $ \k -> atomically (writeTBQueue q (p * 1000 + k)))
  forM_ [1 .. 3 :: Int] $ \_ -> forkIO $ forever $ atomically $ do
    x <- readTBQueue q
    modifyTVar' results (\(n, s) -> (n + 1, s + x))
  r <- atomically (readTVar results >>= \(n, s) -> check (n == 1000) >> return (n, s))
  print r
  tq <- newTQueueIO
  atomically (mapM_ (writeTQueue tq) [1 .. 10 :: Int])
  atomically (unGetTQueue tq 0)
  atomically (flushTQueue tq) >>= print
  atomically (isEmptyTQueue tq) >>= print
  ch <- newBroadcastTChanIO
  c1 <- atomically (dupTChan ch)
  c2 <- atomically (dupTChan ch)
  atomically (mapM_ (writeTChan ch) "abc")
  s1 <- replicateM 3 (atomically (readTChan c1))
  s2 <- atomically (peekTChan c2)
  print (s1, s2)
  tm <- newEmptyTMVarIO
  _ <- forkIO (atomically (putTMVar tm 'v'))
  atomically (takeTMVar tm) >>= print
  atomically (tryTakeTMVar tm) >>= print
  atomically (putTMVar tm 'w' >> readTMVar tm) >>= print
  -- Barrier of five.
  n <- newTVarIO (0 :: Int)
  done <- newTVarIO (0 :: Int)
  forM_ [1 .. 5 :: Int] $ \_ -> forkIO $ do
    atomically (modifyTVar' n (+ 1))
    atomically (readTVar n >>= check . (== 5))
    atomically (modifyTVar' done (+ 1))
  atomically (readTVar done >>= check . (== 5))
  readTVarIO n >>= print
