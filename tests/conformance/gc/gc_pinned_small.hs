{-# LANGUAGE MagicHash, UnboxedTuples #-}
-- Small pinned arrays of every size and alignment: none lies in another, each keeps its contents and its place, their
-- bytes are counted, and a thread that makes nothing else can be stopped and shares its processor.
import Control.Concurrent
import Control.Monad
import Data.IORef
import Foreign
import GHC.Exts
import GHC.IO (IO (..))
import System.Mem
import System.Timeout

data Pinned = Pinned (MutableByteArray# RealWorld)

newAligned :: Int -> Int -> IO Pinned
newAligned (I# n) (I# a) = IO $ \s -> case newAlignedPinnedByteArray# n a s of (# s1, b #) -> (# s1, Pinned b #)

newPlain :: Int -> IO Pinned
newPlain (I# n) = IO $ \s -> case newPinnedByteArray# n s of (# s1, b #) -> (# s1, Pinned b #)

address :: Pinned -> Ptr Word8
address (Pinned b) = Ptr (byteArrayContents# (unsafeCoerce# b))

size :: Pinned -> IO Int
size (Pinned b) = IO $ \s -> case getSizeofMutableByteArray# b s of (# s1, n #) -> (# s1, I# n #)

keep :: Pinned -> IO ()
keep (Pinned b) = IO $ \s -> case touch# b s of s1 -> (# s1, () #)

-- Allocates nothing but pinned arrays.
onlyPinned :: IO ()
onlyPinned = IO go
  where
    go :: State# RealWorld -> (# State# RealWorld, () #)
    go s = case newPinnedByteArray# 32# s of (# s1, b #) -> case writeInt8Array# b 0# 1# s1 of s2 -> go s2

main :: IO ()
main = do
  made <- forM (zip [0 ..] [(n, a) | _ <- [1 .. 3 :: Int], n <- [0 .. 80], a <- 0 : map (2 ^) [0 .. 8 :: Int]]) $
    \(i, (n, a)) -> do
      p <- if a == 0 then newPlain n else newAligned n a
      forM_ [0 .. n - 1] $ \k -> pokeByteOff (address p) k (fromIntegral (i + k) :: Word8)
      -- Some die at once.
      return [(p, address p, i, n, if a == 0 then 16 else max 8 a) | i `mod` 7 /= 3]
  let kept = concat made
      verify = fmap and $ forM kept $ \(p, at, i, n, a) -> do
        same <- forM [0 .. n - 1] $ \k -> (== (fromIntegral (i + k) :: Word8)) <$> peekByteOff at k
        m <- size p
        keep p
        return (and same && m == n && address p == at && alignPtr at a == at)
  verify >>= print
  performMinorGC
  verify >>= print
  _ <- replicateM 20000 (newAligned 8 8)
  performMajorGC
  verify >>= print

  before <- getAllocationCounter'
  replicateM_ 100000 (alloca (\p -> poke p (3 :: Int)))
  after <- getAllocationCounter'
  print (before - after >= 100000 * 24)

  timeout 20000 onlyPinned >>= print
  count <- newIORef (0 :: Int)
  t <- forkIO onlyPinned
  replicateM_ 3 (yield >> modifyIORef' count (+ 1))
  killThread t
  readIORef count >>= print
  where
    getAllocationCounter' = fromIntegral <$> getCounter :: IO Int
    getCounter = IO $ \s -> case getThreadAllocationCounter# s of (# s1, n #) -> (# s1, I# n #)
