-- Options fixed at link time, read back through GHC.RTS.Flags and overridden on the command line.
-- ghc: -O -threaded "-with-rtsopts=-T -G4 -K20m -C0.01"
-- args: +RTS -G3 -RTS z
import GHC.RTS.Flags
import GHC.Stats
import System.Environment
main :: IO ()
main = do
  getArgs >>= print
  getRTSStatsEnabled >>= print
  g <- getGCFlags
  print (generations g, maxStkSize g)
  c <- getConcFlags
  print (ctxtSwitchTime c)
