-- ArrayArray#: arrays of byte arrays and of arrays, mutated and collected.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import System.Mem
import Control.Monad

data MAA = MAA (MutableArrayArray# RealWorld)
data B = B ByteArray#

bytes :: Int -> IO B
bytes (I# n) = IO $ \s -> case newByteArray# 64# s of
  (# s1, m #) -> case setByteArray# m 0# 64# n s1 of
    s2 -> case unsafeFreezeByteArray# m s2 of (# s3, b #) -> (# s3, B b #)

main :: IO ()
main = do
  MAA outer <- IO $ \s -> case newArrayArray# 300# s of (# s', a #) -> (# s', MAA a #)
  forM_ [0 .. 299] $ \i@(I# i#) -> do
    B b <- bytes (i `mod` 100)
    IO $ \s -> case writeByteArrayArray# outer i# b s of s' -> (# s', () #)
    when (i `mod` 50 == 0) performMinorGC
  performMajorGC
  xs <- forM [0 .. 299] $ \(I# i) -> IO $ \s -> case readByteArrayArray# outer i s of
    (# s', b #) -> (# s', I# (indexInt8Array# b 63#) #)
  print (sum xs)
  MAA parent <- IO $ \s -> case newArrayArray# 2# s of (# s', a #) -> (# s', MAA a #)
  IO $ \s -> case writeMutableArrayArrayArray# parent 0# outer s of s' -> (# s', () #)
  IO $ \s -> case writeMutableArrayArrayArray# parent 1# outer s of s' -> (# s', () #)
  performMajorGC
  n <- IO $ \s -> case readMutableArrayArrayArray# parent 1# s of
    (# s1, o #) -> case copyMutableArrayArray# o 10# o 20# 30# s1 of
      s2 -> case readByteArrayArray# o 25# s2 of (# s3, b #) -> (# s3, I# (indexInt8Array# b 0#) #)
  print n
  k <- IO $ \s -> case unsafeFreezeArrayArray# outer s of
    (# s', f #) -> (# s', (I# (sizeofArrayArray# f), I# (sizeofByteArray# (indexByteArrayArray# f 7#))) #)
  print k
