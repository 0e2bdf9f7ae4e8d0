-- GHCRTS gives runtime options; the command line comes after it.
-- env: GHCRTS=-A256k -T
-- args: x +RTS -G3 -RTS
import GHC.RTS.Flags
import GHC.Stats
import System.Environment
main :: IO ()
main = do
  getArgs >>= print
  getRTSStatsEnabled >>= print
  g <- getGCFlags
  print (generations g)
