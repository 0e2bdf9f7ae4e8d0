-- The same work under several generation counts and nursery shapes gives the same answer.
-- args: +RTS -G3 -A64k -n16k -F1.5 -O256k -RTS
import qualified Data.IntMap.Strict as IM
import System.Mem

main :: IO ()
main = do
  let go :: Int -> IM.IntMap [Int] -> IM.IntMap [Int]
      go 0 m = m
      go n m = go (n - 1) (IM.alter (Just . maybe [n] (take 3 . (n :))) ((n * 7919) `mod` 5003) m)
      m1 = go 100000 IM.empty
  print (IM.size m1, sum (map sum (IM.elems m1)))
  performMajorGC
  performMinorGC
  print (IM.foldl' (\a xs -> a + length xs) 0 m1)
