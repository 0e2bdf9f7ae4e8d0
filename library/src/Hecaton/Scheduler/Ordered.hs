-- | Threads that can run, in an order of keys. Of those with the same key the first that has come is first.
module Hecaton.Scheduler.Ordered (Ordered, newOrdered, insert, takeLeast) where

import Control.Concurrent.STM
import qualified Data.Map.Strict as Map
import Hecaton.Substrate (SCont)

-- | Threads by key and number of arrival.
data Ordered key = Ordered (TVar (Map.Map (key, Integer) SCont)) (TVar Integer)

newOrdered :: IO (Ordered key)
newOrdered = Ordered <$> newTVarIO Map.empty <*> newTVarIO 0

insert :: Ord key => Ordered key -> key -> SCont -> STM ()
insert (Ordered threads arrivals) key s = do
  n <- stateTVar arrivals (\n -> (n, n + 1))
  modifyTVar' threads (Map.insert (key, n) s)

-- | Takes the first thread.
takeLeast :: Ordered key -> STM (Maybe (key, SCont))
takeLeast (Ordered threads _) = do
  now <- readTVar threads
  case Map.minViewWithKey now of
    Nothing -> return Nothing
    Just (((key, _), s), others) -> writeTVar threads others >> return (Just (key, s))
