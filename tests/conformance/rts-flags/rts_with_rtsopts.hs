-- Options fixed at link time, read back through GHC.RTS.Flags, together with those of the command line.
-- ghc: -O -threaded -with-rtsopts=-G4
-- args: +RTS -T -RTS z
import GHC.RTS.Flags
import GHC.Stats
import System.Environment
main :: IO ()
main = do
  getArgs >>= print
  getRTSStatsEnabled >>= print
  g <- getGCFlags
  print (generations g)
