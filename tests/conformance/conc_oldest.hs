-- Threads that compute are done in the order in which they began: those that come later, a few at a time, do not keep them waiting.
-- ghc: -O -rtsopts
-- timeout: 60
-- skip-stress: what its threads compute takes minutes
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import GHC.Clock

burn :: Int -> Int -> Int
burn seed n = length (show (foldl' (\a i -> (a * 31 + i) `mod` (10 ^ (40 :: Int))) 1 [toInteger seed .. toInteger (seed + n)]))

-- How much there is to do in 50 milliseconds.
calibrate :: Int -> IO Int
calibrate n = do
  begin <- getMonotonicTime
  _ <- evaluate (burn 0 n)
  end <- getMonotonicTime
  if end - begin < 0.05 then calibrate (2 * n) else return n

later, earlier :: Int
later = 80
earlier = 10

main :: IO ()
main = do
  setNumCapabilities 1
  n <- calibrate 1000
  gate <- newQSem 0
  isDone <- newIORef (0 :: Int)
  ended <- newEmptyMVar
  seen <- newIORef []
  -- They wait for the gate, and each one that is done lets the next one in.
  forM_ [1 .. later] $ \i -> forkIO $ do
    waitQSem gate
    _ <- evaluate (burn i n)
    modifyIORef' isDone (+ 1)
    signalQSem gate
    putMVar ended ()
  forM_ [1 .. earlier] $ \i -> forkIO $ do
    _ <- evaluate (burn (-i) (2 * n))
    before <- readIORef isDone
    modifyIORef' seen (before :)
    putMVar ended ()
  threadDelay 200000
  replicateM_ 2 (signalQSem gate)
  replicateM_ (earlier + later) (takeMVar ended)
  last' <- maximum <$> readIORef seen
  putStrLn (if last' < later * 3 `div` 4 then "first come, first done" else show last' ++ " were done before")
