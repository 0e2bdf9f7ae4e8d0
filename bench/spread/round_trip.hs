-- How long a message to another processing element and its answer take, in microseconds. Prints a line for each size in
-- bytes: the size; through the network tasks alone, while an OS thread waits; through a HEC of each, while a Haskell
-- thread waits. Argument: how many round trips of each kind are made.
-- ghc: -O -threaded

import Control.Monad
import Data.List
import Ping
import System.Environment

main :: IO ()
main = do
  [times] <- map read <$> getArgs
  forM_ [128, 1024, 16384, 65536] $ \size -> do
    let measured way = do
          () <- way (times `div` 10)
          (elapsed, ()) <- timed (way times)
          return (elapsed / fromIntegral times)
    both <- mapM measured [transport size, \n -> replicateM_ n (hecs size)]
    putStrLn (intercalate "\t" (show size : map show both))
