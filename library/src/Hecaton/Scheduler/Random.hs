-- | A random order that depends on a seed alone: of the threads that can run, each is chosen with the same probability.
-- A program whose threads do not depend on time runs the same way for the same seed, if none runs to the end of its
-- time slice, which the clock tells.
module Hecaton.Scheduler.Random (new, policy) where

import Control.Concurrent.STM
import Data.Bits
import qualified Data.Sequence as Seq
import Data.Word (Word64)
import Hecaton.Scheduler

-- | A scheduler without threads, with a seed.
new :: Word64 -> IO (Scheduler ())
new seed = policy seed >>= newScheduler

-- | What it does with its threads.
policy :: Word64 -> IO (Policy () ())
policy seed = do
  threads <- newTVarIO Seq.empty
  generator <- newTVarIO seed
  return
    Policy
      { usual = (),
        arrive = return,
        put = \() s -> modifyTVar' threads (Seq.|> s),
        next = do
          now <- readTVar threads
          if Seq.null now
            then return Nothing
            else do
              r <- stateTVar generator splitMix
              let i = fromIntegral (r `mod` fromIntegral (Seq.length now))
              writeTVar threads (Seq.deleteAt i now)
              return (Seq.lookup i now)
      }

-- | The next number, and the state after it.
splitMix :: Word64 -> (Word64, Word64)
splitMix state = (mixed, advanced)
  where
    advanced = state + 0x9e3779b97f4a7c15
    mixed = shifted 31 (shifted 27 (shifted 30 advanced * 0xbf58476d1ce4e5b9) * 0x94d049bb133111eb)
    shifted n z = z `xor` (z `shiftR` n)
