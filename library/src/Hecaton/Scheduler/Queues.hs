-- | A queue of threads for each HEC. A HEC takes threads of its own queue, and of the others when that is empty. It
-- begins each sixteenth time at any of them, because the HEC of a queue may have no time for it.
module Hecaton.Scheduler.Queues (Queues, newQueues, count, here, putAt, takeThread) where

import Control.Concurrent.STM
import Control.Monad
import Data.Array
import Data.Sequence (Seq, ViewL (..), viewl, (><), (|>))
import qualified Data.Sequence as Seq
import Hecaton.Substrate

data Queues = Queues
  { -- | How many queues there are.
    count :: Int,
    queues :: Array Int (TVar (Seq SCont)),
    -- | How often each HEC has looked for a thread.
    looked :: Array Int (TVar Int)
  }

newQueues :: IO Queues
newQueues = do
  n <- getNumHECs
  let forEach new = listArray (0, n - 1) <$> replicateM n new
  Queues n <$> forEach (newTVarIO Seq.empty) <*> forEach (newTVarIO 0)

-- | The number of the queue of this HEC. HECs that have been added later share the queues of the others.
here :: Queues -> STM Int
here q = (`mod` count q) <$> getCurrentHEC

putAt :: Queues -> Int -> SCont -> STM ()
putAt q i s = modifyTVar' (queues q ! i) (|> s)

-- | Takes the next thread. If it is of the queue of another HEC, as many of that queue as the function says of its
-- length come along, to the queue of this HEC: at least that thread.
takeThread :: Queues -> (Int -> Int) -> STM (Maybe SCont)
takeThread q share = do
  hec <- here q
  start <- if count q == 1 then return hec else firstAsked hec
  takeOf hec start 0
  where
    firstAsked hec = do
      n <- readTVar (looked q ! hec)
      writeTVar (looked q ! hec) $! n + 1
      let (others, turn) = n `divMod` 16
      return (if turn == 15 then others else hec)
    takeOf hec start asked
      | asked == count q = return Nothing
      | otherwise = do
        let i = (start + asked) `mod` count q
        threads <- readTVar (queues q ! i)
        case viewl threads of
          EmptyL -> takeOf hec start (asked + 1)
          s :< rest -> Just s <$ takeAlong hec i rest
    takeAlong hec i rest
      | i == hec || n <= 0 = writeTVar (queues q ! i) rest
      | otherwise = do
        let (moved, left) = Seq.splitAt n rest
        writeTVar (queues q ! i) left
        modifyTVar' (queues q ! hec) (>< moved)
      where
        -- The function counts the thread that has been taken.
        n = share (Seq.length rest + 1) - 1
