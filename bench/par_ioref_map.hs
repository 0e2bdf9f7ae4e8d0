-- forkIO: four threads look up, insert and delete in one map behind an IORef, by atomicModifyIORef'.
-- hecs: 2
-- args: 400000
import Control.Concurrent
import Control.Monad
import qualified Data.IntMap.Strict as M
import Data.IORef
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  table <- newIORef M.empty
  ended <- newEmptyMVar
  let threads = 4
      key t k = ((k * 7919 + k `div` 3) `mod` 50000) * threads + t
      step t found k
        | k `mod` 4 == 0 = atomicModifyIORef' table (\m -> (M.insertWith (+) (key t k) k m, found))
        | k `mod` 16 == 1 = atomicModifyIORef' table (\m -> (M.delete (key t (k - 1)) m, found))
        | otherwise = do
            m <- readIORef table
            return $! maybe found (const (found + 1)) (M.lookup (key t (k `div` 2)) m)
  forM_ [0 .. threads - 1] $ \t -> forkIO (foldM (step t) (0 :: Int) [1 .. n] >>= putMVar ended)
  found <- replicateM threads (takeMVar ended)
  m <- readIORef table
  print (sum found, M.size m, M.foldl' (\a b -> (a + b) `mod` 1000003) 0 m)
