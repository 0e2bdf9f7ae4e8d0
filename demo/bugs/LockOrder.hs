-- A deadlock: two threads take two locks in opposite orders.
module Main (main) where

import Control.Concurrent
import Control.Monad
import System.Exit

type Account = MVar Integer

transfer :: Integer -> Account -> Account -> IO ()
transfer amount from to =
  modifyMVar_ from $ \balance -> do
    modifyMVar_ to (\other -> return $! other + amount)
    return $! balance - amount

main :: IO ()
main = do
  ours <- newMVar 100
  theirs <- newMVar 100
  transfers <- forM [(ours, theirs), (theirs, ours)] $ \(from, to) -> do
    done <- newEmptyMVar
    _ <- forkIO (replicateM_ 20 (transfer 10 from to) >> putMVar done ())
    return done
  mapM_ takeMVar transfers
  balances <- mapM readMVar [ours, theirs]
  unless (balances == [100, 100]) $ die ("the balances are " ++ show balances)
