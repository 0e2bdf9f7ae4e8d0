-- A large live heap: a map of a million entries, updated all over while everything stays alive.
-- args: 500000
import qualified Data.IntMap.Strict as IM
import Data.List (foldl')
import System.Environment

data V = V !Int [Int]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let m0 = IM.fromDistinctAscList [ (i, V i [i, i + 1, i + 2]) | i <- [0 .. n - 1] ]
      step m k = IM.adjust (\(V c xs) -> V (c + 1) (c : take 2 xs)) ((k * 7919) `mod` n) m
      m1 = foldl' step m0 [1 .. n `div` 3]
  print (IM.size m0)
  print (IM.foldl' (\acc (V c xs) -> (acc + c + sum xs) `mod` 1000003) 0 m1)
