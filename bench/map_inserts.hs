-- Maps: inserting, deleting and merging in Data.Map and Data.IntMap.
-- args: 60000
import qualified Data.IntMap.Strict as IM
import qualified Data.Map.Strict as M
import Data.List (foldl')
import System.Environment

keys :: Int -> Int -> [Int]
keys seed n = take n (map (`div` 16) (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) seed))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let m1 = foldl' (\m k -> M.insertWith (+) k 1 m) M.empty (keys 1 n)
      m2 = foldl' (\m k -> M.insertWith (+) (k `div` 2) 1 m) M.empty (keys 2 n)
      u = M.unionWith (+) m1 m2
      del = foldl' (flip M.delete) u (keys 1 (n `div` 2))
      im = foldl' (\m k -> IM.insertWith (+) k 1 m) IM.empty (concatMap (\s -> keys s n) [3, 4, 5])
      im2 = IM.filterWithKey (\k _ -> even k) (IM.unionWith (+) im (IM.map (* 2) im))
  print (M.size u, M.size del, M.foldl' (+) 0 del)
  print (IM.size im, IM.size im2, IM.foldl' (+) 0 im2)
  print (fst <$> M.lookupMin del, fst <$> M.lookupMax del)
