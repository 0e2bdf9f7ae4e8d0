-- Compact regions: data of many shapes copied in, sharing, size, membership, survival and growth.
import GHC.Compact
import qualified Data.Map as M
import System.Mem

data T = L | N T Int T deriving (Show, Eq)

build :: Int -> Int -> T
build lo hi | lo > hi = L
            | otherwise = let m = (lo + hi) `div` 2 in N (build lo (m - 1)) m (build (m + 1) hi)

total :: T -> Int
total L = 0
total (N a n b) = total a + n + total b

main :: IO ()
main = do
  c <- compact (build 1 20000)
  performMajorGC
  performMajorGC
  print (total (getCompact c))
  s <- compactSize c
  print (s > 20000 * 32)
  inCompact c (getCompact c) >>= print
  inCompact c (build 1 3) >>= print
  isCompact (getCompact c) >>= print
  isCompact (Just 'x') >>= print
  c2 <- compactAdd c (M.fromList [ (i, show i) | i <- [1 .. 500 :: Int] ])
  performMajorGC
  print (M.foldr ((+) . length) 0 (getCompact c2))
  let shared = [1 .. 2000 :: Int]
      pair = (shared, shared)
  plain <- compact pair >>= compactSize
  withShare <- compactWithSharing pair
  sz <- compactSize withShare
  print (fst (getCompact withShare) == shared, sz < plain)
  big <- compactSized 100000 True (replicate 100 (Just "str", 2.5 :: Double, 10 ^ 40 :: Integer))
  performMajorGC
  print (length (getCompact big), last (getCompact big))
  print (total (getCompact c))
