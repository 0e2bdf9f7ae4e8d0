-- Reads the numbers of a scheduler of the package and of a program, and runs the program's threads under it.
module Main (main) where

import Data.IORef
import Hecaton.Scheduler
import LibrarySchedulers
import UnderLibrary

main :: IO ()
main = do
  [scheduler, program] <- map read . words <$> getLine
  schedulers <- everyScheduler
  case schedulers !! (scheduler `mod` length schedulers) of
    Any _ s -> writeIORef forking (forkIn s) >> withScheduler s (ending (programs program))
