-- forkIO: very many threads that do a little work each and hand over the result.
-- hecs: 2
-- args: 240000
import Control.Concurrent
import Control.Monad
import System.Environment

work :: Int -> Int
work n = length (filter ((== 0) . (`mod` 7)) (scanl (\a i -> (a * 31 + i) `mod` 10007) n [1 .. 250]))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let batch = 1000
  totals <- forM [1 .. n `div` batch] $ \b -> do
    vars <- forM [1 .. batch] $ \i -> do
      v <- newEmptyMVar
      _ <- forkIO (putMVar v $! work (b * batch + i))
      return v
    sum <$> mapM takeMVar vars
  print (sum totals)
