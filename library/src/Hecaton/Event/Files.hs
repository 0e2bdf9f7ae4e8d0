-- | Batches of file operations.
--
-- Files are always ready, so no event tells when a read from a disk would not wait. Here an operation is handed to an
-- 'Engine', which completes it. The first choice is a ring of Hecaton's runtime, by which the kernel takes a batch at
-- once ("Hecaton.Event.Ring"). The engine of this module runs the operations on a few threads in safe foreign calls, so
-- that they proceed beside each other and beside the program.
module Hecaton.Event.Files
  ( Op,
    readAt,
    writeAt,
    syncData,
    submit,
  )
where

import Control.Concurrent
import Control.Exception
import Data.ByteString (ByteString)
import qualified Data.ByteString.Internal as Bytes
import Data.Foldable (for_)
import Data.Traversable (for)
import Foreign.C
import Foreign.ForeignPtr
import Hecaton.Event.Atomic
import Hecaton.Event.Request
import Hecaton.Event.Ring
import System.Posix.Types

-- | An operation that yields a value.
newtype Op a = Op (IO (Request, Int -> IO a))

instance Functor Op where
  fmap f (Op prepare) = Op (fmap (fmap (fmap (fmap f))) prepare)

-- | Reads up to a number of bytes from a position in a file. What comes back is shorter at the end of the file.
readAt :: Fd -> FileOffset -> Int -> Op ByteString
readAt fd offset n = Op $ do
  memory <- Bytes.mallocByteString (max 0 n)
  pure (Read fd offset memory (max 0 n), \got -> pure (Bytes.fromForeignPtr memory 0 got))

-- | Writes bytes to a position in a file, and yields how many of them were written.
writeAt :: Fd -> FileOffset -> ByteString -> Op Int
writeAt fd offset bytes = Op (pure (Write fd offset (memory `plusForeignPtr` start) n, pure))
  where
    (memory, start, n) = Bytes.toForeignPtr bytes

-- | Waits until a file's data is on its disk. Operations of one batch are in no order, so this goes into a later one.
syncData :: Fd -> Op ()
syncData fd = Op (pure (Sync fd, const (pure ())))

-- | Completes a batch of operations, and returns their results in the same order. They are under way at the same time,
-- and one that fails leaves the others alone. An exception that interrupts this keeps operations from beginning; those
-- that have begun go on.
submit :: [Op a] -> IO [Either IOException a]
submit ops = do
  prepared <- for ops $ \(Op prepare) -> prepare
  results <- onRing threadPool (map fst prepared)
  for (zip prepared results) $ \((_, finish), result) ->
    if result >= 0
      then Right <$> finish result
      else pure (Left (errnoToIOError "submit" (Errno (fromIntegral (negate result))) Nothing Nothing))

-- | How many operations of a batch are under way at a time. A disk takes several at once, and each occupies an
-- operating system thread.
maxThreads :: Int
maxThreads = 8

-- | Completes a batch on some threads, each of which takes the next request until there is none left.
threadPool :: Engine
threadPool requests = do
  next <- newWords 1
  slots <- for requests $ \request -> (,) request <$> newEmptyMVar
  let count = length requests
      ordered = zip [0 ..] slots
      worker rest = do
        n <- subtract 1 <$> add next 0 1
        case dropWhile ((< n) . fst) rest of
          (_, (request, slot)) : others -> (perform request >>= putMVar slot) >> worker others
          [] -> pure ()
      results = for slots (takeMVar . snd)
  mask $ \restore -> do
    for_ [1 .. min maxThreads count] $ \_ -> forkIO (worker ordered)
    restore results `onException` set next 0 (maxBound `quot` 2)
