-- What generations that are not collected hold counts as alive: small objects, large ones, compact regions.
-- args: +RTS -T -A256k -RTS
-- skip-stress: with a collection at every block less is left between two of them
-- packages: ghc-compact containers
import Control.Exception
import Control.Monad
import qualified Data.Map.Strict as M
import Data.Array.Unboxed
import Data.IORef
import GHC.Compact
import GHC.Stats
import System.Mem

-- Collections until all that is alive is old, and what the last one tells.
settled :: IO GCDetails
settled = replicateM_ 4 performMinorGC >> gc <$> getRTSStats

near :: Integral a => a -> a -> Bool
near a b = fromIntegral (max a b - min a b) < (400000 :: Double)

main :: IO ()
main = do
  let m = M.fromList [ (i, [i]) | i <- [1 .. 40000 :: Int] ]
  _ <- evaluate (sum (map sum (M.elems m)))
  kept <- newIORef m
  performMajorGC
  a <- gc <$> getRTSStats
  b <- settled
  print (gcdetails_gen b, gcdetails_live_bytes a > 3000000, near (gcdetails_live_bytes a) (gcdetails_live_bytes b), gcdetails_copied_bytes b < 100000)
  let array = listArray (0, 499999) [1 ..] :: UArray Int Int
  _ <- evaluate (array ! 9)
  c <- settled
  print (near (gcdetails_live_bytes c) (gcdetails_live_bytes b + 4000000), near (gcdetails_large_objects_bytes c) 4000000, gcdetails_compact_bytes c)
  region <- compact [1 .. 100000 :: Int]
  size <- compactSize region
  d <- settled
  print (near (gcdetails_compact_bytes d) (fromIntegral size), near (gcdetails_live_bytes d) (gcdetails_live_bytes c + gcdetails_compact_bytes d))
  print (near (gcdetails_large_objects_bytes d) 4000000)
  more <- compactAdd region (map negate [1 .. 50000 :: Int])
  size' <- compactSize region
  e <- settled
  print (near (gcdetails_compact_bytes e) (fromIntegral size'))
  performMajorGC
  s <- getRTSStats
  print (max_compact_bytes s == gcdetails_compact_bytes (gc s), max_live_bytes s >= gcdetails_live_bytes (gc s), max_large_objects_bytes s >= 4000000)
  n <- readIORef kept
  print (M.size n, array ! 3, sum (getCompact region), sum (getCompact more))
