-- Timers that are registered and cancelled soon after, beside some that stay ([OT10, §8.2]). Arguments: how many steps,
-- and how many timers in each. Prints for each step the nanoseconds for a timer, and the resident memory in MB then.
import Control.Monad
import Data.List
import GHC.Clock
import GHC.Event
import System.Environment

main :: IO ()
main = do
  [steps, timers] <- map read <$> getArgs
  manager <- getSystemTimerManager
  let register = registerTimeout manager 3600000000 (return ())
      step = replicateM_ (timers `div` batch) $ replicateM batch register >>= mapM_ (unregisterTimeout manager)
  replicateM_ batch register
  replicateM_ steps $ do
    before <- getMonotonicTimeNSec
    step
    after <- getMonotonicTimeNSec
    memory <- resident
    putStrLn (unwords [show (fromIntegral (after - before) / fromIntegral timers :: Double), show memory])
  where
    batch = 1000

resident :: IO Double
resident = do
  [line] <- filter ("VmRSS:" `isPrefixOf`) . lines <$> readFile "/proc/self/status"
  return (read (words line !! 1) / 1000)
