-- On several HECs: threads race through tables of thunks that need each other, are interrupted at any moment, and find
-- the right values.
-- ghc: -O -threaded
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Array
import System.Timeout

table :: Int -> Int -> Array (Int, Int) Int
table seed n = t
  where
    t = listArray ((0, 0), (n, n)) [cell i j | i <- [0 .. n], j <- [0 .. n]]
    cell 0 j = j
    cell i 0 = i
    cell i j
      | (i * 31 + j * 17 + seed) `mod` 7 == 0 = t ! (i - 1, j - 1)
      | otherwise = (1 + minimum [t ! (i - 1, j), t ! (i, j - 1), t ! (i - 1, j - 1)]) `mod` 1000003

walk :: Int -> Array (Int, Int) Int -> Int -> Int
walk n t k = foldr (\a b -> (a * 3 + b) `mod` 1000003) 0 [t ! ((i * k) `mod` (n + 1), (i * (k + 2)) `mod` (n + 1)) | i <- [0 .. n * 4]]

main :: IO ()
main = do
  let n = 60
  rounds <- forM [1 .. 12] $ \seed -> do
    let t = table seed n
    dones <- forM [1 .. 8] $ \k -> do
      done <- newEmptyMVar
      _ <- forkIO (persist (1 + k * 37) (walk n t k + walk n t (k `mod` 4)) >>= putMVar done)
      return done
    vs <- mapM takeMVar dones
    return (vs == [walk n t' k + walk n t' (k `mod` 4) | let t' = table seed n, k <- [1 .. 8]], sum vs)
  print rounds

-- Evaluates in slices, each cut short by an exception.
persist :: Int -> Int -> IO Int
persist micros x = timeout micros (evaluate x) >>= maybe (persist (micros * 2) x) return
