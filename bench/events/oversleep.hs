-- How much later than asked for an idle program wakes up from a delay of a millisecond: prints the median and the 99th
-- percentile in microseconds. Argument: how many delays.
import Control.Concurrent
import Control.Monad
import Data.List
import GHC.Clock
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  late <- sort <$> replicateM n oversleep
  putStrLn (unwords [show (late !! (n * percent `div` 100)) | percent <- [50, 99]])

oversleep :: IO Double
oversleep = do
  before <- getMonotonicTimeNSec
  threadDelay 1000
  after <- getMonotonicTimeNSec
  return (fromIntegral (after - before) / 1000 - 1000)
