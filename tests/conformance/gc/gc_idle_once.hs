-- A program that does nothing is collected once, and not again until it has done something.
-- ghc: -O -threaded
-- args: +RTS -T -I0.1
import Control.Concurrent
import Control.Monad
import GHC.Stats

-- Full collections while main sleeps twenty times as long as a program has to be idle.
collections :: IO Int
collections = do
  before <- major_gcs <$> getRTSStats
  threadDelay 2000000
  after <- major_gcs <$> getRTSStats
  return (fromIntegral (after - before))

main :: IO ()
main = do
  counts <- replicateM 2 collections
  print [n >= 1 && n <= 3 | n <- counts]
