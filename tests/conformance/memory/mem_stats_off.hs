-- GHC.Stats without -T: disabled, and reading raises.
import Control.Exception
import GHC.Stats
main :: IO ()
main = do
  getRTSStatsEnabled >>= print
  r <- try getRTSStats
  putStrLn (either (\e -> show (e :: IOException)) (const "stats") r)
