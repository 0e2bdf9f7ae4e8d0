-- | Waits of threads: for a descriptor, for time, or for whichever of several things comes first.
--
-- These need no manager of the program's own. They wait as all blocking operations do, on the event manager that comes
-- with the runtime. Hecaton's has one node for a wait with a time limit, and one for a timer. On other runtimes a timer
-- is a thread.
module Hecaton.Event.Wait
  ( wait,
    Source,
    waitAny,
    onFd,
    onTimer,
    onSTM,
  )
where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Hecaton.Event.Backend
import Hecaton.Event.PollCall
import Hecaton.Event.Runtime
import System.Posix.Types (Fd)

-- | Blocks this thread until one of the events is there, or the given number of microseconds has passed. Returns events
-- that are there, or none after that time. If the descriptor is closed by 'GHC.Conc.closeFdWith', as handles and
-- sockets are, the wait ends with an exception.
wait :: Fd -> Event -> Maybe Int -> IO Event
wait fd events limit = do
  found <- case runtime of
    Just r | awaited /= mempty -> fromNumber <$> waitEvents r (toNumber awaited) fd (maybe (-1) (max 0) limit)
    _ -> waitAny (onFd fd awaited : [mempty <$ onTimer us | Just us <- [limit]])
  -- They may have been there all the time, or have come with the limit.
  if found == mempty then look fd awaited else pure found
  where
    awaited = common events (evtRead <> evtWrite)

-- | Something to wait for that yields a value.
newtype Source a = Source (IO (Armed a))

-- | A wait that has begun: how to see that it is over, and how to withdraw it.
data Armed a = Armed (STM a) (IO ())

instance Functor Source where
  fmap f (Source arm) = Source (fmap (\(Armed over withdraw) -> Armed (f <$> over) withdraw) arm)

-- | Blocks this thread until one of the sources has a value, and withdraws the waits for all others. If several have
-- one, the value is the first one's in the list. Without sources it waits forever.
waitAny :: [Source a] -> IO a
waitAny sources = mask $ \restore -> go restore [] sources
  where
    go restore armed (Source arm : rest) = do
      one <- arm `onException` withdrawAll armed
      go restore (one : armed) rest
    go restore armed [] =
      restore (atomically (foldr orElse retry [over | Armed over _ <- reverse armed])) `finally` withdrawAll armed
    withdrawAll armed = sequence_ [withdraw | Armed _ withdraw <- armed]

-- | Events on a descriptor: one or more that are there.
onFd :: Fd -> Event -> Source Event
onFd fd events = Source $ do
  reads' <- arm evtRead threadWaitReadSTM
  writes <- arm evtWrite threadWaitWriteSTM `onException` sequence_ [withdraw | Armed _ withdraw <- reads']
  let all' = reads' ++ writes
  pure (Armed (foldr orElse retry [over | Armed over _ <- all']) (sequence_ [withdraw | Armed _ withdraw <- all']))
  where
    arm event begin
      | events `contains` event = do
        (over, withdraw) <- begin fd
        pure [Armed (event <$ over) withdraw]
      | otherwise = pure []

-- | The end of a number of microseconds, which begin when the wait begins.
onTimer :: Int -> Source ()
onTimer us = Source $ do
  over <- newTVarIO (us <= 0)
  let isOver = readTVar over >>= check
  if us <= 0
    then pure (Armed isOver (pure ()))
    else Armed isOver <$> begin (atomically (writeTVar over True))
  where
    begin end = case runtime of
      Just r -> cancelTimer r <$> startTimer r us end
      -- A thread that is killed takes its delay with it; what 'registerDelay' starts could not be withdrawn.
      Nothing -> do
        thread <- forkIOWithUnmask $ \unmask -> unmask (threadDelay us >> end)
        pure (uninterruptibleMask_ (killThread thread))

-- | Anything that a transaction can wait for: an event of the program's own.
onSTM :: STM a -> Source a
onSTM over = Source (pure (Armed over (pure ())))
