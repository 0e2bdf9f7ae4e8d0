{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- | Groups: which threads and activations are those of one scheduler. If it fails, the runtime /ejects/ the group: its
-- threads go on as threads of the built-in scheduler, and a line on standard error says why. With @+RTS
-- --scheduler-faults=fatal@ the program ends instead.
--
-- A scheduler fails if an activation that the runtime runs raises an exception, or takes more time or memory than the
-- group has promised, or if none of its threads has run for too long, although one has been given to it and can run.
--
-- A thread that sets its activations is the first one of a group, to which the threads that it makes belong. It may say
-- which ('Hecaton.Substrate.setGroup'). This module is for schedulers that are to have names in messages or other
-- promises, or that share activations.
module Hecaton.Substrate.Group
  ( Group,
    newGroup,
    Promise (..),
    usualPromise,
    onBehalfOf,
    isEjected,
    failed,
  )
where

import Control.Exception (SomeException)
import Foreign.C.String (withCStringLen)
import GHC.Conc (STM (..))
import GHC.Exts
import GHC.IO (IO (..))
import Hecaton.Substrate.Runtime

-- | What a group may use before it is ejected.
data Promise = Promise
  { -- | Nanoseconds of CPU time that a transaction takes beyond the first tick of the runtime's clock.
    transactionTime :: Word,
    -- | Bytes that a transaction allocates beyond the first tick.
    transactionBytes :: Word,
    -- | Seconds until one of its threads runs, if one can run all the time. It is seen after at most three times as
    -- long. 0: no limit.
    restTime :: Word
  }
  deriving (Eq, Show)

-- | 10 ms, 64 MB, and 10 s.
usualPromise :: Promise
usualPromise = Promise 10000000 67108864 10

-- | Makes a group with a name for messages. If the dequeue activation of its threads is one that several groups share,
-- it is the parent's. A fault in it is then the parent's too, but for what it does on behalf of others ('onBehalfOf').
-- If the group is ejected, the activation chooses other threads for the HECs that the group used.
newGroup :: String -> Maybe Group -> Promise -> IO Group
newGroup name parent (Promise (W# time) (W# bytes) (W# rest)) =
  withCStringLen name $ \(Ptr text, I# size) -> IO $ \s ->
    case newGroup# runtime text size within time bytes rest s of (# s1, group #) -> (# s1, Group (W# group) #)
  where
    !(W# within) = case parent of
      Nothing -> 0
      Just (Group word) -> word

-- | In an activation: what follows is done on behalf of this group. The result is false if the group is ejected. Then
-- nothing must be done on its behalf.
onBehalfOf :: Group -> STM Bool
onBehalfOf (Group (W# group)) = STM $ \s -> case onBehalf# runtime group s of
  (# s1, may #) -> (# s1, isTrue# may #)

-- | Is the group ejected?
isEjected :: Group -> IO Bool
isEjected (Group (W# group)) = IO $ \s -> case ejected# runtime group s of
  (# s1, is #) -> (# s1, isTrue# is #)

-- | Ejects the group, whose code has raised the exception in a transaction of the running thread.
failed :: Group -> SomeException -> IO ()
failed (Group (W# group)) e = IO (failed# runtime group e)
