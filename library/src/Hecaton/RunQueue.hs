{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE RankNTypes #-}
{-# LANGUAGE UnboxedTuples #-}

-- | Run queues of the runtime, by which a program orders its threads without code for each switch. Threads block and
-- wake as those of the built-in scheduler do.
--
-- > queue <- newRunQueue Priority
-- > _ <- forkInQueueAs queue 10 interactive
-- > _ <- forkInQueueAs queue 0 background
--
-- A 'RunQueue' has a part on each HEC, which is served in that order. The parts of all queues on a HEC, and its
-- built-in queue, take turns: each is served for a time slice (20 ms, or what @+RTS -C@ says) or until it is empty. A
-- HEC that is idle is given threads of each part.
--
-- A thread that is made by 'Control.Concurrent.forkIO' belongs to the queue of the thread that makes it, with the same
-- key. Those of @forkOS@, callbacks from C, finalizers and signal handlers belong to the built-in queue.
--
-- This module needs Hecaton's runtime. On another one each function raises 'NotOnHecaton'.
module Hecaton.RunQueue
  ( -- * Queues
    RunQueue,
    Order (..),
    newRunQueue,

    -- * Making threads
    forkInQueue,
    forkInQueueAs,
    forkInQueueWithUnmask,
    forkBuiltIn,

    -- * The running thread
    Key,
    joinQueue,
    joinQueueAs,
    leaveQueue,
    currentQueue,
    getKey,
    setKey,
    SubstrateException (..),
  )
where

import Control.Exception (catch)
import Control.Monad (when)
import Data.Int (Int32)
import Data.Word (Word64)
import GHC.Conc (ThreadId (..), childHandler)
import GHC.Exts
import GHC.IO (IO (..), unsafeUnmask)
import Hecaton.Substrate.Runtime
import Unsafe.Coerce (unsafeCoerce)

-- | Two are equal if they are the same queue.
newtype RunQueue = RunQueue Int
  deriving (Eq, Ord)

-- | Which thread of a queue runs next on a HEC.
data Order
  = -- | The one that has waited longest.
    Fifo
  | -- | The one that was queued last. One that has used its time slice is second.
    Lifo
  | -- | The one with the highest 'Key'; of several the one that has waited longest. When a thread is woken, it preempts
    -- one of the same queue that runs on the HEC with a lower key. A thread with a low key starves while others with
    -- higher keys can run: "Hecaton.Scheduler.Priority" is a scheduler in which threads age.
    Priority
  | -- | A random one, by this seed.
    Random Word64
  deriving (Eq, Show)

-- | A thread's priority in a queue with that order. In others it has no effect.
type Key = Int32

-- | Makes a queue. A program can make 65535 of them. They are not freed.
newRunQueue :: Order -> IO RunQueue
newRunQueue order = do
  number <- IO $ \s -> case newQueue# runtime code seed s of (# s1, n #) -> (# s1, I# n #)
  when (number == 0) (ioError (userError "newRunQueue: there are too many queues"))
  return (RunQueue number)
  where
    !(I# code, W# seed) = case order of
      Fifo -> (0, 0)
      Lifo -> (1, 0)
      Priority -> (2, 0)
      Random n -> (3, fromIntegral n)

-- | As 'Control.Concurrent.forkIO', in a queue. The key is 0.
forkInQueue :: RunQueue -> IO () -> IO ThreadId
forkInQueue queue = forkInQueueAs queue 0

-- | As 'forkInQueue', with a key.
forkInQueueAs :: RunQueue -> Key -> IO () -> IO ThreadId
forkInQueueAs (RunQueue queue) = forkInNumber queue

-- | As 'Control.Concurrent.forkIO', in the built-in queue, whatever thread makes it: the new thread belongs to the
-- built-in scheduler.
forkBuiltIn :: IO () -> IO ThreadId
forkBuiltIn = forkInNumber 0 0

forkInNumber :: Int -> Key -> IO () -> IO ThreadId
forkInNumber queue key action = IO $ \s ->
  case forkInQueue# runtime q k (unsafeCoerce (action `catch` childHandler)) s of (# s1, t #) -> (# s1, ThreadId t #)
  where
    !(I# q, I# k) = (queue, fromIntegral key)

-- | As 'forkInQueueAs', with a function that runs an action with exceptions unmasked.
forkInQueueWithUnmask :: RunQueue -> Key -> ((forall a. IO a -> IO a) -> IO ()) -> IO ThreadId
forkInQueueWithUnmask queue key action = forkInQueueAs queue key (action unsafeUnmask)

join :: Int -> Key -> IO ()
join queue key = IO $ \s -> case joinQueue# runtime q k s of (# s1, _ #) -> (# s1, () #)
  where
    !(I# q, I# k) = (queue, fromIntegral key)

-- | The number of the running thread's queue, or 0, and its key.
own :: IO (Int, Key)
own = IO $ \s -> case ownQueue# runtime s of (# s1, q, k #) -> (# s1, (I# q, fromIntegral (I# k)) #)

-- | The running thread belongs to this queue from now on. It goes on running. The key is 0.
joinQueue :: RunQueue -> IO ()
joinQueue queue = joinQueueAs queue 0

-- | As 'joinQueue', with a key.
joinQueueAs :: RunQueue -> Key -> IO ()
joinQueueAs (RunQueue queue) = join queue

-- | The running thread belongs to the built-in queue from now on.
leaveQueue :: IO ()
leaveQueue = join 0 0

-- | The queue of the running thread. 'Nothing' is the built-in one.
currentQueue :: IO (Maybe RunQueue)
currentQueue = do
  (queue, _) <- own
  return (if queue == 0 then Nothing else Just (RunQueue queue))

-- | The key of the running thread; 0 if it belongs to the built-in queue.
getKey :: IO Key
getKey = snd <$> own

-- | Changes the key of the running thread. If it is lower than before, the thread yields soon. Nothing happens if the
-- thread belongs to the built-in queue.
setKey :: Key -> IO ()
setKey key = do
  (queue, _) <- own
  when (queue /= 0) (join queue key)
