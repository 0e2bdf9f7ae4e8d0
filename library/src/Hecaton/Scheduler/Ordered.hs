-- | Threads that can run, in an order of keys. Of those with the same key the first that has come is first.
module Hecaton.Scheduler.Ordered (Ordered, newOrdered, insert, insertAt, remove, least, takeLeast) where

import Control.Concurrent.STM
import Control.Monad
import qualified Data.Map.Strict as Map

-- | Threads, or what stands for them, by key and number of arrival.
data Ordered key thread = Ordered (TVar (Map.Map (key, Integer) thread)) (TVar Integer)

newOrdered :: IO (Ordered key thread)
newOrdered = Ordered <$> newTVarIO Map.empty <*> newTVarIO 0

insert :: Ord key => Ordered key thread -> key -> thread -> STM ()
insert ordered key = void . insertAt ordered key

-- | Returns what 'remove' takes.
insertAt :: Ord key => Ordered key thread -> key -> thread -> STM (key, Integer)
insertAt (Ordered threads arrivals) key thread = do
  n <- stateTVar arrivals (\n -> (n, n + 1))
  modifyTVar' threads (Map.insert (key, n) thread)
  return (key, n)

remove :: Ord key => Ordered key thread -> (key, Integer) -> STM ()
remove (Ordered threads _) at = modifyTVar' threads (Map.delete at)

-- | The key of the first one.
least :: Ordered key thread -> STM (Maybe key)
least (Ordered threads _) = fmap (fst . fst) . Map.lookupMin <$> readTVar threads

-- | Takes the first one.
takeLeast :: Ordered key thread -> STM (Maybe thread)
takeLeast (Ordered threads _) = do
  now <- readTVar threads
  case Map.minView now of
    Nothing -> return Nothing
    Just (first, others) -> writeTVar threads others >> return (Just first)
