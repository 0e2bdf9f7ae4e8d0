-- A lost update: each step of a deposit is atomic, and the deposit is not. A thread that runs between the two steps has
-- its own deposit overwritten.
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Exit

deposit :: IORef Integer -> Integer -> IO ()
deposit account amount = do
  balance <- readIORef account
  writeIORef account $! balance + amount

main :: IO ()
main = do
  account <- newIORef 0
  clerks <- replicateM 2 $ do
    done <- newEmptyMVar
    _ <- forkIO (replicateM_ 10 (deposit account 5) >> putMVar done ())
    return done
  mapM_ takeMVar clerks
  balance <- readIORef account
  unless (balance == 100) $ die ("the balance is " ++ show balance ++ " instead of 100")
