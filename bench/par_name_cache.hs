-- forkIO: eight threads share a table of names, looked up and extended lazily: each update waits for the one before it.
-- args: 400000
-- hecs: 2
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Map as M
import System.Environment

data Cache = Cache (M.Map Int Int) Int

-- The number of a name: as it was given, or the next one.
number :: IORef Cache -> Int -> IO Int
number ref name = do
  n <- atomicModifyIORef ref $ \(Cache known next) -> case M.lookup name known of
    Just n -> (Cache known next, n)
    Nothing -> (Cache (M.insert name next known) (next + 1), next)
  evaluate n

work :: Int -> Int
work n = length (filter odd (scanl (\a i -> (a * 31 + i) `mod` 10007) n [1 .. 120]))

main :: IO ()
main = do
  [turns] <- map read <$> getArgs
  ref <- newIORef (Cache M.empty 0)
  done <- newEmptyMVar
  let threads = 8
  forM_ [1 .. threads] $ \t -> forkIO $ do
    let go acc i
          | i > turns `div` threads = pure acc
          | otherwise = do
              n <- number ref ((t * i * 7919) `mod` 4001)
              acc' <- evaluate (acc + work (i + n `mod` 2))
              go acc' (i + 1)
    go 0 1 >>= putMVar done
  results <- replicateM threads (takeMVar done)
  print (length (filter (> 0) results))
  Cache known next <- readIORef ref
  print (M.size known, next)
