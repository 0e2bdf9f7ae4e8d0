-- The eventlog flavour links and runs when no log is asked for.
-- ghc: -O -threaded -eventlog
import Debug.Trace
main :: IO ()
main = traceEventIO "unseen" >> traceMarkerIO "unseen too" >> putStrLn "no log"
