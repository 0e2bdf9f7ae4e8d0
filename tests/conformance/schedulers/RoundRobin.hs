-- A round robin for one HEC, written with the substrate.
module RoundRobin (newScheduler, fork, forkSCont, yield, finish, waitFor) where

import Control.Concurrent.STM
import Hecaton.Substrate

-- The running thread, and the threads that it makes, share a queue from now on.
newScheduler :: IO ()
newScheduler = do
  queue <- newTVarIO ([], [])
  setDequeueAct $ \_ -> do
    q <- readTVar queue
    case q of
      (s : front, back) -> writeTVar queue (front, back) >> return s
      ([], back) -> case reverse back of
        [] -> retry
        s : front -> writeTVar queue (front, []) >> return s
  setEnqueueAct $ \s -> modifyTVar' queue (\(front, back) -> (front, s : back))

forkSCont :: IO () -> IO SCont
forkSCont action = do
  s <- newSCont (action >> finish)
  atomically (enqueueAct s)
  return s

fork :: IO () -> IO ()
fork action = forkSCont action >> return ()

yield :: IO ()
yield = switch (\s -> enqueueAct s >> dequeueAct s)

-- The thread does not run again.
finish :: IO ()
finish = switch dequeueAct

-- Others run until the condition holds.
waitFor :: STM Bool -> IO ()
waitFor condition = do
  holds <- atomically condition
  if holds then return () else yield >> waitFor condition
