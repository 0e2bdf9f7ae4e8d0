-- STM, high contention: four threads count up one TVar and nothing else.
-- hecs: 2
-- args: 20000000
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  counter <- newTVarIO (0 :: Int)
  ended <- newEmptyMVar
  let threads = 4
  replicateM_ threads $ forkIO $ do
    replicateM_ (n `div` threads) (atomically (readTVar counter >>= \x -> writeTVar counter $! x + 1))
    putMVar ended ()
  replicateM_ threads (takeMVar ended)
  readTVarIO counter >>= print
