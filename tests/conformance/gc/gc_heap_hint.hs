-- -H with and without a size: the allocation area grows and shrinks with what is alive.
-- skip-stress: a million live objects, checked at every block
-- ghc: -O -threaded -with-rtsopts=-H
-- skip-small: counts collections
-- args: +RTS -T -RTS
import Control.Monad
import qualified Data.Map.Strict as M
import GHC.Stats
import System.Mem

main :: IO ()
main = do
  forM_ [1 .. 3 :: Int] $ \k -> do
    let m = M.fromList [(i, show i) | i <- [1 .. 60000 * k]]
    print (M.foldl' (\a s -> a + length s) 0 m, M.lookup (777 * k) m)
    when (k == 2) performMajorGC
    print (sum (map length [replicate j 'x' | j <- [1 .. 1500]]) + M.size (M.filter ((> 4) . length) m))
  s <- getRTSStats
  -- Without -H there are some 190.
  print (gcs s < 150)
