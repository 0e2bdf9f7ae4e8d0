-- Map, IntMap, Set, IntSet and Seq against simple list models.
import qualified Data.IntMap.Strict as IM
import qualified Data.IntSet as IS
import qualified Data.Map as M
import qualified Data.Sequence as Seq
import qualified Data.Set as S
import Data.Foldable (toList)
import Data.List (foldl', nub, sort)
import Data.Tree
import Data.Graph

keys :: [Int]
keys = take 3000 (map (`mod` 5000) (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) 3))

main :: IO ()
main = do
  let m = M.fromListWith (++) [ (k, [i]) | (i, k) <- zip [0 :: Int ..] keys ]
      im = foldl' (\a k -> IM.insertWith (+) k 1 a) IM.empty keys
      s = S.fromList keys
  print (M.size m == length (nub keys), M.keys m == IM.keys im, M.keys m == S.toAscList s)
  print (sum (map length (M.elems m)), IM.foldr (+) 0 im, M.valid m)
  print (fst <$> M.lookupLE 100 m, fst <$> M.lookupGE 100 m, M.findIndex (head keys) m)
  let (lo, mid, hi) = M.splitLookup 2500 m
  print (M.size lo, mid, M.size hi, M.size (M.union lo hi))
  print (M.size (M.intersectionWith (,) m (M.fromList [ (k, ()) | k <- [0, 3 .. 5000] ])), S.size (S.map (`div` 10) s))
  print (M.foldrWithKey (\k v a -> (k + length v + a) `mod` 9973) 0 (M.mapMaybe (\v -> if length v > 1 then Just v else Nothing) m))
  print (IS.size (IS.fromList keys), IS.toList (IS.filter (< 60) (IS.fromList keys)), IM.lookupMin im)
  let q = foldl' (\a k -> if even k then a Seq.|> k else k Seq.<| a) Seq.empty keys
  print (Seq.length q, Seq.index q 1500, sum (toList (Seq.take 100 (Seq.drop 700 q))))
  print (toList (Seq.sort q) == sort keys, toList (Seq.reverse q) == reverse (toList q), sum (Seq.update 5 0 q))
  print (map flattenSCC (stronglyConnComp [ (i, i, [(i * 3 + 1) `mod` 10]) | i <- [0 .. 9 :: Int] ]))
  print (foldTree (\x xs -> x + sum xs) (unfoldTree (\n -> (n, [ n * 2 + k | k <- [0, 1], n < 50 ])) (1 :: Int)))
