-- Compact regions: a map copied into regions again and again, with what its values share.
-- aim: elapsed 1.1
-- args: 200000 6
import Control.Monad
import qualified Data.Map.Strict as M
import GHC.Compact
import System.Environment

main :: IO ()
main = do
  [n, times] <- map read <$> getArgs
  let shared = M.fromList [(i, replicate 3 i) | i <- [0 .. 99 :: Int]]
      m = M.fromDistinctAscList [(i, (replicate 3 i, shared M.! (i `mod` 100))) | i <- [1 .. n]]
      total = M.foldl' (\s (own, common) -> s + sum own + sum common) 0
  print (total m)
  sizes <- forM [1 .. times] $ \_ -> do
    region <- compactWithSharing m
    size <- compactSize region
    return (total (getCompact region), size < 200 * fromIntegral n)
  print sizes
