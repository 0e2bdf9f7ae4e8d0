-- STM, low contention: transfers between a thousand accounts by four threads, with work between them.
-- hecs: 2
-- args: 1200000
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.Array
import System.Environment

next :: Int -> Int
next x = (x * 1103515245 + 12345) `mod` 2147483648

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  accounts <- listArray (0, 999) <$> replicateM 1000 (newTVarIO (100 :: Int))
  ended <- newEmptyMVar
  let threads = 4
      transfer seed = do
        let a = accounts ! (seed `div` 8 `mod` 1000)
            b = accounts ! (seed `div` 8192 `mod` 1000)
            amount = 1 + seed `mod` 7
        atomically $ do
          x <- readTVar a
          when (x >= amount) $ do
            writeTVar a $! x - amount
            readTVar b >>= \y -> writeTVar b $! y + amount
  forM_ [1 .. threads] $ \t -> forkIO $ do
    let go :: Int -> Int -> IO ()
        go 0 seed = putMVar ended $! seed
        go k seed = transfer seed >> go (k - 1) (iterate next seed !! 20)
    go (n `div` threads) (t * 7919)
  seeds <- replicateM threads (takeMVar ended)
  money <- atomically (sum <$> mapM readTVar (elems accounts))
  print (money, sum seeds)
