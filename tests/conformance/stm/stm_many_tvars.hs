-- One transaction over two thousand TVars, and a wait on all of them.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

main :: IO ()
main = do
  tvs <- forM [1 .. 2000 :: Int] newTVarIO
  s <- atomically (sum <$> mapM readTVar tvs)
  print s
  atomically (forM_ tvs (\t -> modifyTVar' t (* 2)))
  s2 <- atomically (sum <$> mapM readTVar tvs)
  print s2
  out <- newEmptyMVar
  _ <- forkIO $ do
    x <- atomically (mapM readTVar tvs >>= \xs -> check (sum xs /= s2) >> return (sum xs))
    putMVar out x
  replicateM_ 3 yield
  atomically (writeTVar (tvs !! 1500) 0)
  takeMVar out >>= print
  r <- atomically ((forM_ tvs (\t -> writeTVar t 0) >> retry) `orElse` (sum <$> mapM readTVar (take 100 tvs)))
  print r
