{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE LambdaCase #-}

-- | The pending timeouts: a priority search queue, ordered by deadline and searched by key.
--
-- It is a Patricia tree on the keys that is a heap on the deadlines: each inner node holds one timeout, which is due
-- before all timeouts below it. Insertion, removal and change take time logarithmic in the number of timeouts, and at
-- most as many steps as a key has bits. The smallest deadline is at the root.
--
-- Clients do not change the queue, which belongs to the thread that steps the manager. They leave 'Edit's, which are
-- data and not functions on the queue, so that neither they nor the queue hold unevaluated work.
module Hecaton.Event.TimeoutQueue
  ( TimeoutQueue,
    emptyQueue,
    size,

    -- * Edits
    Edit (..),
    apply,

    -- * What is due
    nextDeadline,
    takeDue,
    Due (..),
  )
where

import Data.Bits
import Data.List (foldl')

-- | Pending timeouts.
newtype TimeoutQueue = TimeoutQueue Tree

data Tree
  = Nil
  | -- | One timeout.
    Tip {-# UNPACK #-} !Due
  | -- | A timeout; the bit by which the keys of both subtrees differ first; those without it, and those with it. All
    -- keys, that of this node's timeout too, agree in the higher bits.
    Bin {-# UNPACK #-} !Due !Int !Tree !Tree

-- | A timeout: its key, when it is due (in nanoseconds of the monotonic clock), and what is to be done then.
data Due = Due
  { dueKey :: {-# UNPACK #-} !Int,
    dueTime :: {-# UNPACK #-} !Int,
    dueAction :: IO ()
  }

-- | A change to the queue.
data Edit
  = -- | A new timeout, in place of the one with the same key, if there is one.
    Insert {-# UNPACK #-} !Due
  | -- | Another deadline for the timeout with this key, if it is pending.
    Move {-# UNPACK #-} !Int {-# UNPACK #-} !Int
  | -- | Removes the timeout with this key.
    Delete {-# UNPACK #-} !Int

-- | No timeouts: what the first 'Hecaton.Event.step' of a manager is given.
emptyQueue :: TimeoutQueue
emptyQueue = TimeoutQueue Nil

-- | How many timeouts are pending.
size :: TimeoutQueue -> Int
size (TimeoutQueue tree) = go tree
  where
    go = \case
      Nil -> 0
      Tip _ -> 1
      Bin _ _ l r -> 1 + go l + go r

-- | Makes the changes, in their order.
apply :: [Edit] -> TimeoutQueue -> TimeoutQueue
apply edits (TimeoutQueue tree) = let !changed = foldl' edit tree edits in TimeoutQueue changed

edit :: Tree -> Edit -> Tree
edit tree = \case
  Insert due -> insert due (snd' (remove (dueKey due) tree))
  Move key time -> case remove key tree of
    Removed (Just due) rest -> insert due {dueTime = time} rest
    Removed Nothing _ -> tree
  Delete key -> snd' (remove key tree)
  where
    snd' (Removed _ rest) = rest

-- | The earliest deadline.
nextDeadline :: TimeoutQueue -> Maybe Int
nextDeadline (TimeoutQueue tree) = case tree of
  Nil -> Nothing
  Tip due -> Just (dueTime due)
  Bin due _ _ _ -> Just (dueTime due)

-- | The timeouts that are due at this time, the earliest first, and those that are not. Timeouts with the same deadline
-- come in the order of their keys.
takeDue :: Int -> TimeoutQueue -> ([Due], TimeoutQueue)
takeDue now (TimeoutQueue all') = go [] all'
  where
    go found tree = case tree of
      Tip due | dueTime due <= now -> go (due : found) Nil
      Bin due m l r | dueTime due <= now -> go (due : found) (merge m l r)
      _ -> (reverse found, TimeoutQueue tree)

before :: Due -> Due -> Bool
before a b = dueTime a < dueTime b || dueTime a == dueTime b && dueKey a < dueKey b

-- | Inserts a timeout whose key is not in the tree.
insert :: Due -> Tree -> Tree
insert new tree = case tree of
  Nil -> Tip new
  Tip old
    | new `before` old -> join new (dueKey old) tree Nil
    | otherwise -> join old (dueKey new) (Tip new) Nil
  Bin old m l r
    | not (agree (dueKey new) (dueKey old) m) ->
      if new `before` old
        then join new (dueKey old) tree Nil
        else join old (dueKey new) (Tip new) (merge m l r)
    | new `before` old -> below new old
    | otherwise -> below old new
    where
      below top other
        | dueKey other .&. m == 0 = Bin top m (insert other l) r
        | otherwise = Bin top m l (insert other r)

-- | A node for a timeout, above two trees. All keys of the first tree agree with the given key where they differ from
-- the timeout's own, and all of the second agree with the timeout's own there.
join :: Due -> Int -> Tree -> Tree -> Tree
join top key others own
  | key .&. m == 0 = Bin top m others own
  | otherwise = Bin top m own others
  where
    m = highestBit (key `xor` dueKey top)

-- | One tree of two whose keys differ first in this bit.
merge :: Int -> Tree -> Tree -> Tree
merge m l r = case (l, r) of
  (Nil, _) -> r
  (_, Nil) -> l
  (Tip a, Tip b)
    | a `before` b -> Bin a m Nil r
    | otherwise -> Bin b m l Nil
  (Tip a, Bin b bm bl br)
    | a `before` b -> Bin a m Nil r
    | otherwise -> Bin b m l (merge bm bl br)
  (Bin a am al ar, Tip b)
    | a `before` b -> Bin a m (merge am al ar) r
    | otherwise -> Bin b m l Nil
  (Bin a am al ar, Bin b bm bl br)
    | a `before` b -> Bin a m (merge am al ar) r
    | otherwise -> Bin b m l (merge bm bl br)

data Removed = Removed !(Maybe Due) !Tree

remove :: Int -> Tree -> Removed
remove key tree = case tree of
  Nil -> Removed Nothing Nil
  Tip due
    | dueKey due == key -> Removed (Just due) Nil
    | otherwise -> Removed Nothing tree
  Bin due m l r
    | dueKey due == key -> Removed (Just due) (merge m l r)
    | not (agree key (dueKey due) m) -> Removed Nothing tree
    | key .&. m == 0 -> case remove key l of
      Removed found l' -> Removed found (node due m l' r)
    | otherwise -> case remove key r of
      Removed found r' -> Removed found (node due m l r')

-- | A node, or a tip where nothing is left below.
node :: Due -> Int -> Tree -> Tree -> Tree
node due _ Nil Nil = Tip due
node due m l r = Bin due m l r

-- | Do two keys agree in all bits above this one?
agree :: Int -> Int -> Int -> Bool
agree a b m = (a `xor` b) .&. complement (m .|. (m - 1)) == 0

highestBit :: Int -> Int
highestBit n = bit (finiteBitSize n - 1 - countLeadingZeros n)
