-- What a time limit costs that nothing competes with: prints the nanoseconds of one `timeout`. Argument: how many.
import Control.Monad
import GHC.Clock
import System.Environment
import System.Timeout

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  replicateM_ (n `div` 10) limited
  before <- getMonotonicTimeNSec
  replicateM_ n limited
  after <- getMonotonicTimeNSec
  print (fromIntegral (after - before) / fromIntegral n :: Double)
  where
    limited = timeout 1000000 (return ())
