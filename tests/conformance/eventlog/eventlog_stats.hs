-- A program that logs its collections has GHC.Stats without asking for it.
-- ghc: -eventlog
-- args: +RTS -l -ol/dev/null -RTS
import GHC.RTS.Flags (getGCFlags, giveStats)
import GHC.Stats
import System.Mem

main :: IO ()
main = do
  getRTSStatsEnabled >>= print
  getGCFlags >>= \flags -> print (fromEnum (giveStats flags))
  performMajorGC
  stats <- getRTSStats
  print (gcs stats > 0, gcdetails_gen (gc stats), max_live_bytes stats > 0)
