-- A scheduler that needs a value whenever it chooses.
module Needing (needing) where

import Control.Concurrent.STM
import Hecaton.Substrate
import Hecaton.Substrate.Group

needing :: Int -> IO ()
needing n = do
  newGroup "needing" Nothing usualPromise {transactionTime = maxBound, transactionBytes = maxBound} >>= setGroup
  queue <- newTVarIO []
  setDequeueAct (\_ -> n `seq` (readTVar queue >>= \q -> case q of [] -> retry; s : rest -> s <$ writeTVar queue rest))
  setEnqueueAct (\s -> modifyTVar queue (++ [s]))
