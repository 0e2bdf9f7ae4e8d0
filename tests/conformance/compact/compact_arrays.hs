-- Arrays copied into a region: large, nested, empty, shared, with elements that are thunks. What is still to be done
-- takes less memory than the array.
-- args: +RTS -T -RTS
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Exception
import Data.Array
import GHC.Compact
import GHC.Exts
import GHC.Stats
import System.Mem

data Small a = Small (SmallArray# a)

small :: [a] -> Small a
small xs = case length xs of
  I# n -> case runRW# (fill n) of (# _, a #) -> Small a
  where
    fill n s = case newSmallArray# n undefined s of (# s1, m #) -> put m 0# xs s1
    put m _ [] s = unsafeFreezeSmallArray# m s
    put m i (y : ys) s = put m (i +# 1#) ys (writeSmallArray# m i y s)

elements :: Small a -> [a]
elements (Small a) = [case indexSmallArray# a i of (# x #) -> x | I# i <- [0 .. I# (sizeofSmallArray# a) - 1]]

data Node = Node Int Int (Array Int Node)

walk :: Node -> [Int]
walk (Node i next ring) = i : walk (ring ! next)

main :: IO ()
main = do
  let large = listArray (1, 1000000) (cycle [True, False, True]) :: Array Int Bool
  c <- compactSized 4096 False large
  performMajorGC
  print (length (filter id (elems (getCompact c))), getCompact c ! 77)
  stats <- getRTSStats
  print (max_mem_in_use_bytes stats < 32 * 1024 * 1024)
  -- Elements that allocate, and arrays in arrays, some of them empty or of one element.
  let rows = listArray (0, 300) [listArray (1, n `mod` 5 * 40) [product [1 .. fromIntegral k] | k <- [1 .. 200 :: Int]] | n <- [0 ..]] :: Array Int (Array Int Integer)
      shapes = [(bounds r, sum (fmap (`mod` 1000003) r)) | r <- elems rows]
  d <- compactAdd c rows
  performMajorGC
  print ([(bounds r, sum (fmap (`mod` 1000003) r)) | r <- elems (getCompact d)] == shapes)
  let smalls = small [small [show (i * j) | j <- [1 .. i `mod` 7]] | i <- [1 .. 2000 :: Int]]
  e <- compactWithSharing (smalls, smalls)
  performMajorGC
  let (s, t) = getCompact e
  print (length (concat (concatMap elements (elements s))), map elements (elements s) == map elements (elements t))
  -- A cycle through an array, and an exception that an element raises in the middle.
  let ring = listArray (0, 99) [Node i ((i + 1) `mod` 100) ring | i <- [0 ..]]
  f <- compactWithSharing ring
  performMajorGC
  print (sum (take 1000 (walk (getCompact f ! 0))))
  r <- try (compact (listArray (1, 1000) [if i == 700 then error "seven hundred" else i | i <- [1 ..]] :: Array Int Int))
  either (\(ErrorCall m) -> putStrLn m) (const (putStrLn "no error")) r
  performMajorGC
  print (length (filter id (elems (getCompact c))))
