-- | A scheduler of schedulers: those below one parent take turns on its HECs, in proportion to their shares. Each
-- chooses among its threads by its own policy.
--
-- > parent <- Hierarchical.new
-- > interactive <- child parent 3 Lifo.policy
-- > background <- child parent 1 Fifo.policy
-- > forkIn interactive answer
-- > forkIn background compute
--
-- While both have threads that can run, three of four turns are those of @interactive@. A scheduler without such
-- threads takes no turns, and does not catch up later.
module Hecaton.Scheduler.Hierarchical (Parent, new, newOn, child, childParent) where

import Control.Concurrent.STM
import Data.List (sortOn)
import Hecaton.Scheduler
import Hecaton.Substrate (SCont)

-- | Schedulers that share HECs, or the part of them that their own parent gives them.
data Parent = Parent Domain Children

data Children = Children
  { members :: TVar [Child],
    -- | The pass of the child that had the last turn.
    current :: TVar Integer
  }

data Child = Child
  { stride :: Integer,
    -- | The sum of its strides. The child with the least has the next turn.
    pass :: TVar Integer,
    takeNext :: STM (Maybe SCont)
  }

newChildren :: IO Children
newChildren = Children <$> newTVarIO [] <*> newTVarIO 0

-- | A parent without children, whose threads run on all HECs.
new :: IO Parent
new = newFor Nothing

-- | A parent without children, whose threads run on at most this number of HECs at once.
newOn :: Int -> IO Parent
newOn = newFor . Just

newFor :: Maybe Int -> IO Parent
newFor limit = do
  children <- newChildren
  domain <- newDomain limit (turn children)
  return (Parent domain children)

-- | A scheduler below a parent, with a share of its turns. The least share is 1.
child :: Parent -> Int -> IO (Policy a own) -> IO (Scheduler a)
child (Parent domain children) share makePolicy = do
  policy <- makePolicy
  addChild children share (next policy)
  newSchedulerIn domain policy

-- | A parent below a parent, with a share of its turns, which it divides among its own children.
childParent :: Parent -> Int -> IO Parent
childParent (Parent domain children) share = do
  below <- newChildren
  addChild children share (turn below)
  return (Parent domain below)

addChild :: Children -> Int -> STM (Maybe SCont) -> IO ()
addChild children share taking = do
  begun <- newTVarIO 0
  let strides = 1000000000 `div` toInteger (max 1 share)
  atomically (modifyTVar' (members children) (Child strides begun taking :))

-- | Takes a thread of the child whose turn it is, of those that have any.
turn :: Children -> STM (Maybe SCont)
turn children = do
  begun <- readTVar (current children)
  all' <- readTVar (members children)
  passes <- mapM (fmap (max begun) . readTVar . pass) all'
  go (sortOn fst (zip passes all'))
  where
    go [] = return Nothing
    go ((now, c) : others) = do
      taken <- takeNext c
      case taken of
        Nothing -> go others
        Just _ -> do
          writeTVar (current children) now
          writeTVar (pass c) (now + stride c)
          return taken
