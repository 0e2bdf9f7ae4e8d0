-- forkIO: threads that force one lazy table from several sides, so that they meet on its thunks.
-- hecs: 2
-- args: 900 3
import Control.Concurrent
import Control.Monad
import Data.Array
import System.Environment

-- The longest common subsequence of two sequences, as a table whose cells refer to each other.
table :: Int -> Int -> Array (Int, Int) Int
table salt n = cells
  where
    cells = listArray ((0, 0), (n, n)) [cell i j | i <- [0 .. n], j <- [0 .. n]]
    cell 0 _ = 0
    cell _ 0 = 0
    cell i j
      | left i == right j = 1 + cells ! (i - 1, j - 1)
      | otherwise = max (cells ! (i - 1, j)) (cells ! (i, j - 1))
    left i = (i * i + salt) `mod` 23
    right j = (j * 7 + j `div` 5 * salt) `mod` 19

main :: IO ()
main = do
  [n, times] <- map read <$> getArgs
  forM_ [1 .. times] $ \salt -> do
    let t = table salt n
    ended <- newEmptyMVar
    -- Some go along rows, some along columns, some through the diagonal.
    forM_ [\k -> (k, n), \k -> (n, k), \k -> (k, k), \k -> (n - k, k)] $ \place ->
      forkIO (putMVar ended $! sum [t ! place k | k <- [0 .. n]])
    sums <- replicateM 4 (takeMVar ended)
    print (sum sums, t ! (n, n))
