-- Mutable arrays: union-find with path compression, Kruskal's tree over a random graph, sorted edges.
-- args: 120000
{-# LANGUAGE FlexibleContexts #-}
import Control.Monad
import Control.Monad.ST
import Data.Array.ST
import Data.Array.Base (unsafeRead, unsafeWrite)
import Data.List (sort)
import Data.STRef
import System.Environment

kruskal :: Int -> [(Int, Int, Int)] -> Int
kruskal n es = runST $ do
  parent <- newListArray (0, n - 1) [0 ..] :: ST s (STUArray s Int Int)
  total <- newSTRef 0
  let find x = do
        p <- unsafeRead parent x
        if p == x then return x else do
          g <- unsafeRead parent p
          unsafeWrite parent x g
          find g
  forM_ es $ \(w, a, b) -> do
    ra <- find a
    rb <- find b
    when (ra /= rb) (unsafeWrite parent ra rb >> modifySTRef' total (+ w))
  readSTRef total

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let rs = iterate (\x -> (x * 6364136223846793005 + 1442695040888963407) `mod` (2 ^ (62 :: Int))) 11 :: [Int]
      edge x = ((x `div` 65536) `mod` 100003, (x `div` 1024) `mod` (n `div` 4), (x `div` 33554432) `mod` (n `div` 4))
  print (kruskal n (sort (map edge (take n rs))))
