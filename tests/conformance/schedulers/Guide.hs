-- The scheduler of docs/schedulers.md, "Writing a scheduler".
module Guide where

import Control.Concurrent.STM
import Data.Sequence (ViewL (..), viewl, (|>))
import qualified Data.Sequence as Seq
import Hecaton.Substrate

newScheduler :: IO ()
newScheduler = do
  ready <- newTVarIO Seq.empty
  setDequeueAct $ \_ -> readTVar ready >>= \threads -> case viewl threads of
    EmptyL -> retry
    first :< others -> writeTVar ready others >> return first
  setEnqueueAct $ \s -> modifyTVar' ready (|> s)

fork :: IO () -> IO ()
fork action = newSCont (action >> switch dequeueAct) >>= atomically . enqueueAct

yield :: IO ()
yield = switch (\s -> enqueueAct s >> dequeueAct s)

useHEC :: IO ()
useHEC = newSCont (switch dequeueAct) >>= runOnIdleHEC
