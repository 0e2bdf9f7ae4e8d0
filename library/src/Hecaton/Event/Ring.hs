{-# LANGUAGE CApiFFI #-}

-- | Batches on rings of Hecaton's runtime (@io_uring@).
--
-- Each HEC has a ring. A batch goes to the ring of the HEC on which its thread runs. A request's number is that of its
-- batch with its index.
--
-- Completions are reaped by the thread that has submitted a batch, because most operations on cached files are over
-- then, and after that by a thread of the ring. That thread waits for the ring's descriptor while batches are pending.
-- The last completion of a batch wakes the thread that waits for it.
--
-- A pending batch refers to its memory, so the memory outlives a thread that is interrupted.
module Hecaton.Event.Ring
  ( onRing,
  )
where

import Control.Concurrent
import Control.Exception (mask_)
import Control.Monad
import Data.Foldable (for_)
import Data.IORef
import qualified Data.IntMap.Strict as IntMap
import Data.Int
import Foreign hiding (new, void)
import Foreign.ForeignPtr.Unsafe (unsafeForeignPtrToPtr)
import Foreign.C
import Hecaton.Event.Atomic
import Hecaton.Event.Request
import System.IO.Unsafe (unsafePerformIO)
import System.Posix.Types

foreign import capi unsafe "hecaton_runtime.h hecaton_file_ring" c_ring :: CSize -> IO (Ptr ())

foreign import capi unsafe "hecaton_runtime.h hec_file_ring_fd" c_fd :: Ptr () -> IO CInt

-- The kernel copies cached data within this call.
foreign import capi safe "hecaton_runtime.h hec_file_ring_submit" c_submit :: Ptr () -> Ptr () -> CSize -> IO CSize

foreign import capi unsafe "hecaton_runtime.h hec_file_ring_reap" c_reap :: Ptr () -> Ptr () -> CSize -> IO CSize

foreign import capi "errno.h value ECANCELED" canceled :: CInt

data Ring = Ring
  { -- | The runtime's ring. The child of a fork has others.
    handle :: !(Ptr ()),
    pending :: !(IORef Pending)
  }

data Pending = Pending
  { -- | The number of the next batch.
    next :: !Int,
    batches :: !(IntMap.IntMap Batch),
    -- | Is there a thread that waits for the ring?
    reaping :: !Bool
  }

data Batch = Batch
  { -- | It refers to the memory.
    _requests :: [Request],
    results :: !Words,
    -- | How many requests are not over.
    left :: !Words,
    over :: !(MVar ())
  }

-- | The rings by the numbers of their HECs.
rings :: IORef (IntMap.IntMap Ring)
rings = unsafePerformIO (newIORef IntMap.empty)
{-# NOINLINE rings #-}

-- | The ring of the HEC on which this thread runs, if the runtime and the system offer one.
currentRing :: IO (Maybe Ring)
currentRing = do
  (hec, _) <- threadCapability =<< myThreadId
  found <- c_ring (fromIntegral hec)
  if found == nullPtr then pure Nothing else do
    known <- IntMap.lookup hec <$> readIORef rings
    case known of
      Just ring | handle ring == found -> pure known
      _ -> do
        new <- Ring found <$> newIORef (Pending 0 IntMap.empty False)
        atomicModifyIORef' rings $ \all' -> case IntMap.lookup hec all' of
          Just ring | handle ring == found -> (all', Just ring)
          _ -> (IntMap.insert hec new all', Just new)

-- | Completes a batch by a ring. What no ring takes, the other engine completes.
onRing :: Engine -> Engine
onRing other requests
  | null requests || any hasNoPlace requests = other requests
  | otherwise = currentRing >>= maybe (other requests) complete
  where
    -- The kernel would take the file's own position.
    hasNoPlace request = case request of
      Read _ offset _ _ -> offset < 0
      Write _ offset _ _ -> offset < 0
      Sync _ -> False
    complete ring = do
      let (mine, others) = splitAt batchLimit requests
      (batch, taken) <- mask_ (begin ring mine)
      rest <- other (drop taken mine ++ others)
      takeMVar (over batch)
      done <- forM (zip [0 ..] (take taken mine)) $ \(i, request) -> do
        result <- get (results batch) i
        if result `elem` givenBack then perform request else pure result
      pure (done ++ rest)
    -- The system thread that has submitted it has ended, or the kernel could not wait for it.
    givenBack = [negate (fromIntegral e) | Errno e <- [Errno canceled, eINTR, eAGAIN]]

-- | The indices of a batch are below this.
batchLimit :: Int
batchLimit = 4096

-- | Hands a batch to the kernel, and says how many of its requests that has taken.
begin :: Ring -> [Request] -> IO (Batch, Int)
begin ring requests = do
  let n = length requests
  batch <- Batch requests <$> newWords n <*> newWords 1 <*> newEmptyMVar
  set (left batch) 0 n
  number <- atomicModifyIORef' (pending ring) $ \p ->
    (p {next = next p + 1, batches = IntMap.insert (next p) batch (batches p)}, next p)
  taken <- allocaBytes (max 1 n * requestBytes) $ \memory' -> do
    for_ (zip [0 ..] requests) $ \(i, request) ->
      write (memory' `plusPtr` (i * requestBytes)) (number * batchLimit + i) request
    fromIntegral <$> c_submit (handle ring) memory' (fromIntegral n)
  finish ring number batch (n - taken)
  reap ring
  starts <- atomicModifyIORef' (pending ring) $ \p ->
    let needed = not (reaping p || IntMap.null (batches p)) in (p {reaping = reaping p || needed}, needed)
  when starts $ void (forkIO (keepReaping ring))
  pure (batch, taken)

-- | Reaps until no batch is pending.
keepReaping :: Ring -> IO ()
keepReaping ring = do
  c_fd (handle ring) >>= threadWaitRead . Fd
  reap ring
  goesOn <- atomicModifyIORef' (pending ring) $ \p ->
    let more = not (IntMap.null (batches p)) in (p {reaping = more}, more)
  when goesOn $ keepReaping ring

-- | Takes the completions that are there.
reap :: Ring -> IO ()
reap ring = allocaBytes (completionsAtOnce * completionBytes) go
  where
    go completions = do
      n <- fromIntegral <$> c_reap (handle ring) completions (fromIntegral completionsAtOnce)
      known <- batches <$> readIORef (pending ring)
      for_ [0 .. n - 1] $ \k -> do
        let completion = completions `plusPtr` (k * completionBytes)
        request <- peekByteOff completion 0 :: IO Int
        result <- peekByteOff completion 8
        let (number, i) = request `quotRem` batchLimit
        for_ (IntMap.lookup number known) $ \batch -> set (results batch) i result >> finish ring number batch 1
      when (n == completionsAtOnce) $ go completions

-- | That many requests of a batch are over, or will never be under way.
finish :: Ring -> Int -> Batch -> Int -> IO ()
finish ring number batch n = when (n > 0) $ do
  rest <- add (left batch) 0 (negate n)
  when (rest == 0) $ do
    atomicModifyIORef' (pending ring) $ \p -> (p {batches = IntMap.delete number (batches p)}, ())
    putMVar (over batch) ()

-- The layouts of @Request@ and @Completion@ in @rts/src/events/file_ring.rs@.

completionsAtOnce, completionBytes, requestBytes :: Int
completionsAtOnce = 64
completionBytes = 16
requestBytes = 40

write :: Ptr () -> Int -> Request -> IO ()
write to number request = case request of
  Read fd offset memory' n -> fields memory' n offset fd 0
  Write fd offset memory' n -> fields memory' n offset fd 1
  Sync fd -> pokeByteOff to 0 number >> pokeByteOff to 32 fd >> pokeByteOff to 36 (2 :: Int32)
  where
    fields memory' n offset fd operation = do
      pokeByteOff to 0 number
      pokeByteOff to 8 (unsafeForeignPtrToPtr memory')
      pokeByteOff to 16 n
      pokeByteOff to 24 offset
      pokeByteOff to 32 fd
      pokeByteOff to 36 (operation :: Int32)
