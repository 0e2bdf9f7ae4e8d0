-- Waits until the ticker has what it needs. The stock one opens a descriptor in its own OS thread, which may begin late
-- on a busy machine, and ends the program if there is none. Hecaton needs none; its ticker is known by its name.
module Ticker (awaitTicker) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.List
import System.Directory

awaitTicker :: IO ()
awaitTicker = go (1000 :: Int)
  where
    go n = do
      timers <- filter ("timerfd" `isInfixOf`) <$> each "/proc/self/fd" id getSymbolicLinkTarget
      tickers <- filter ("haskell-ticker" `isInfixOf`) <$> each "/proc/self/task" (++ "/comm") readFile
      when (n > 0 && null (timers ++ tickers)) (threadDelay 10000 >> go (n - 1))
    -- What is gone by now is left out.
    each folder file look = do
      names <- listDirectory folder
      concat <$> forM names (\name -> either none pure <$> try (look (folder ++ "/" ++ file name) >>= evaluate . force'))
    none e = const [] (e :: IOException)
    force' text = length text `seq` text
