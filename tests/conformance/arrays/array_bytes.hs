-- ByteArray# primitives: every element width, unaligned reads, copy and overlap, fill, compare, shrink, resize,
-- pinnedness, atomics.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import System.Mem

data MB = MB (MutableByteArray# RealWorld)
data B = B ByteArray#

io_ :: (State# RealWorld -> State# RealWorld) -> IO ()
io_ f = IO $ \s -> case f s of s' -> (# s', () #)

new, newPinned :: Int -> IO MB
new (I# n) = IO $ \s -> case newByteArray# n s of (# s', a #) -> (# s', MB a #)
newPinned (I# n) = IO $ \s -> case newPinnedByteArray# n s of (# s', a #) -> (# s', MB a #)
w8 :: MB -> Int -> Int -> IO ()
w8 (MB a) (I# i) (I# x) = io_ (writeWord8Array# a i (int2Word# x))
r8 :: MB -> Int -> IO Int
r8 (MB a) (I# i) = IO $ \s -> case readWord8Array# a i s of (# s', w #) -> (# s', I# (word2Int# w) #)
freeze :: MB -> IO B
freeze (MB a) = IO $ \s -> case unsafeFreezeByteArray# a s of (# s', b #) -> (# s', B b #)
getSize :: MB -> IO Int
getSize (MB a) = IO $ \s -> case getSizeofMutableByteArray# a s of (# s', n #) -> (# s', I# n #)

main :: IO ()
main = do
  m@(MB a) <- new 64
  io_ (setByteArray# a 0# 64# 0#)
  io_ (writeInt32Array# a 1# (negateInt# 2#))
  io_ (writeDoubleArray# a 1# 1.5##)
  io_ (writeWord16Array# a 10# 0xBEEF##)
  io_ (writeWideCharArray# a 6# 'λ'#)
  io_ (writeFloatArray# a 8# 2.5#)
  io_ (writeWord8ArrayAsInt# a 41# 0x0102030405060708#)
  mapM (r8 m) [0 .. 63] >>= print
  IO (\s -> case readWord8ArrayAsWord32# a 43# s of (# s', w #) -> (# s', W# w #)) >>= print
  io_ (copyMutableByteArray# a 4# a 6# 20#)
  mapM (r8 m) [0 .. 30] >>= print
  io_ (copyMutableByteArray# a 6# a 3# 20#)
  mapM (r8 m) [0 .. 30] >>= print
  -- Sizes
  io_ (shrinkMutableByteArray# a 30#)
  getSize m >>= print
  MB bigger <- IO (\s -> case resizeMutableByteArray# a 5000# s of (# s', b #) -> (# s', MB b #))
  getSize (MB bigger) >>= print
  r8 (MB bigger) 8 >>= print
  performMajorGC
  r8 (MB bigger) 8 >>= print
  MB smaller <- IO (\s -> case resizeMutableByteArray# bigger 10# s of (# s', b #) -> (# s', MB b #))
  getSize (MB smaller) >>= print
  -- Compare
  x <- new 100; y <- new 100
  mapM_ (\i -> w8 x i (i * 3 `mod` 256) >> w8 y i (i * 3 `mod` 256)) [0 .. 99]
  w8 y 70 0
  B bx <- freeze x
  B by <- freeze y
  print (I# (compareByteArrays# bx 0# by 0# 70#))
  print (signum (I# (compareByteArrays# bx 0# by 0# 100#)), signum (I# (compareByteArrays# by 60# bx 60# 20#)))
  -- Pinned
  MB p <- newPinned 48
  big <- new 10000
  small <- new 16
  print (isTrue# (isMutableByteArrayPinned# p), pin big, pin small)
  MB al <- IO (\s -> case newAlignedPinnedByteArray# 100# 64# s of (# s', b #) -> (# s', MB b #))
  print (I# (addr2Int# (byteArrayContents# (unsafeCoerce# al)) `andI#` 63#))
  -- Atomics
  MB at <- new 16
  io_ (writeIntArray# at 0# 10#)
  r1 <- IO (\s -> case fetchAddIntArray# at 0# 5# s of (# s', n #) -> (# s', I# n #))
  r2 <- IO (\s -> case casIntArray# at 0# 15# 99# s of (# s', n #) -> (# s', I# n #))
  r3 <- IO (\s -> case casIntArray# at 0# 15# 77# s of (# s', n #) -> (# s', I# n #))
  r4 <- IO (\s -> case fetchXorIntArray# at 0# 3# s of (# s', n #) -> (# s', I# n #))
  r5 <- IO (\s -> case atomicReadIntArray# at 0# s of (# s', n #) -> (# s', I# n #))
  print (r1, r2, r3, r4, r5)
  where
    pin (MB q) = isTrue# (isMutableByteArrayPinned# q)
