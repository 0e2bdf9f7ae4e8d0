-- forkIO: four workers take jobs from one Chan and put their results into another. (Not from a bound main: mvar_main is
-- about those.)
-- hecs: 2
-- args: 70000
import Control.Concurrent
import Control.Monad
import qualified Data.Map.Strict as M
import System.Environment

job :: Int -> Int
job n = M.foldl' (+) 0 (M.fromListWith (+) [((n * i) `mod` 31, i) | i <- [1 .. 60 + n `mod` 60]])

main :: IO ()
main = runInUnboundThread $ do
  [n] <- map read <$> getArgs
  jobs <- newChan
  results <- newChan
  ended <- newEmptyMVar
  let workers = 4 :: Int
      work = readChan jobs >>= \j -> case j of
        Just k -> (writeChan results $! job k) >> work
        Nothing -> putMVar ended ()
  replicateM_ workers (forkIO work)
  _ <- forkIO (mapM_ (writeChan jobs . Just) [1 .. n] >> replicateM_ workers (writeChan jobs Nothing))
  total <- foldM (\acc _ -> (\r -> (acc + r) `mod` 1000003) <$> readChan results) 0 [1 .. n]
  replicateM_ workers (takeMVar ended)
  print total
