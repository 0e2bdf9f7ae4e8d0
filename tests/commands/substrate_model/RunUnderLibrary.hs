-- Reads the numbers of a scheduler of the package, of a program and of a seed, and runs the program's threads under the
-- scheduler. They have the runtime's MVars, or those of the package.
module Main (main) where

import Data.IORef
import Hecaton.Scheduler
import LibrarySchedulers
import qualified Models
import qualified UnderLibrary

main :: IO ()
main = do
  [library, scheduler, program, seed] <- map read . words <$> getLine
  schedulers <- (++) <$> everyScheduler <*> onAllHECs
  case schedulers !! scheduler of
    Any _ s
      | library == 0 -> withScheduler s (Models.ending seed (Models.programs program))
      | otherwise -> do
        writeIORef UnderLibrary.forking (forkIn s)
        withScheduler s (UnderLibrary.ending seed (UnderLibrary.programs program))
