-- STM: transfers between accounts by many threads, a shared counter, and transactions over many variables.
-- args: 350000
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.Array
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  accounts <- listArray (0, 99) <$> replicateM 100 (newTVarIO (100 :: Int))
  counter <- newTVarIO (0 :: Int)
  left <- newTVarIO (8 :: Int)
  forM_ [1 .. 8] $ \t -> forkIO $ do
    forM_ [1 .. n `div` 8 * 4] $ \k -> atomically $ do
      let i = accounts ! ((k * t * 7) `mod` 100)
          j = accounts ! ((k + t * 31) `mod` 100)
      x <- readTVar i
      when (x >= 5) (writeTVar i (x - 5) >> readTVar j >>= \y -> writeTVar j $! y + 5)
      modifyTVar' counter (+ 1)
    atomically (modifyTVar' left (subtract 1))
  atomically (readTVar left >>= check . (== 0))
  readTVarIO counter >>= print
  sums <- forM [1 .. n `div` 40] $ \_ -> atomically (sum <$> mapM readTVar (elems accounts))
  print (sum sums)
  q <- newTBQueueIO 100
  _ <- forkIO (forM_ [1 .. n * 2] (atomically . writeTBQueue q))
  s <- foldM (\acc _ -> (\x -> acc + x) <$> atomically (readTBQueue q)) 0 [1 .. n * 2]
  print s
