-- GHC.Stats with -T: figures that relate to each other as they should.
-- args: +RTS -T -RTS
import Control.Exception
import GHC.Stats
import System.Mem

main :: IO ()
main = do
  getRTSStatsEnabled >>= print
  performMajorGC
  a <- getRTSStats
  n <- evaluate (length (show (product [1 .. 3000 :: Integer])))
  let xs = [1 .. 100000] :: [Int]
  print (n + sum xs)
  performMajorGC
  b <- getRTSStats
  print (length xs)
  print (gcs b > gcs a, major_gcs b > major_gcs a, major_gcs b <= gcs b)
  print (allocated_bytes b > allocated_bytes a + 2000000, copied_bytes b >= copied_bytes a)
  print (max_live_bytes b >= gcdetails_live_bytes (gc b), gcdetails_live_bytes (gc b) > 100000 * 16)
  print (mutator_cpu_ns b >= 0, gc_cpu_ns b >= gc_cpu_ns a, elapsed_ns b >= gc_elapsed_ns b, cpu_ns b >= cpu_ns a)
  print (gcdetails_gen (gc b), gcdetails_threads (gc b) >= 1, max_mem_in_use_bytes b >= max_live_bytes b)
  -- One thread alone is no parallel collection.
  print (gcdetails_threads (gc b) > 1 || gcdetails_par_max_copied_bytes (gc b) == 0)
