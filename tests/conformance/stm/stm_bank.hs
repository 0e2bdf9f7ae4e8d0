-- Random transfers between accounts by many threads: the sum never changes, seen from concurrent audits.
-- skip-kinds: Lifo-N1; a thread that computes or yields for ever runs alone under this order
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

main :: IO ()
main = do
  accounts <- replicateM 20 (newTVarIO (1000 :: Int))
  bad <- newTVarIO (0 :: Int)
  left <- newTVarIO (10 :: Int)
  let transfer i j n = do
        x <- readTVar i
        if x < n then return () else writeTVar i (x - n) >> modifyTVar' j (+ n)
      pick k = accounts !! (k `mod` 20)
  forM_ [1 .. 10] $ \t -> forkIO $ do
    forM_ [1 .. 300] $ \k -> atomically (transfer (pick (k * t)) (pick (k * 7 + t)) (k `mod` 50))
    atomically (modifyTVar' left (subtract 1))
  _ <- forkIO $ forever $ do
    s <- atomically (sum <$> mapM readTVar accounts)
    when (s /= 20000) (atomically (modifyTVar' bad (+ 1)))
    yield
  atomically (readTVar left >>= check . (== 0))
  total <- sum <$> mapM readTVarIO accounts
  b <- readTVarIO bad
  print (total, b)
