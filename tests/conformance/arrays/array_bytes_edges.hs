-- Byte arrays at their edges: empty, shrunk to every length, resized across the bounds of large objects, aligned,
-- overlapping copies.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import GHC.Word
import Control.Monad
import System.Mem

data MB = MB (MutableByteArray# RealWorld)
data BA = BA ByteArray#
newB, newP :: Int -> IO MB
newB (I# n) = IO $ \s -> case newByteArray# n s of (# s', a #) -> (# s', MB a #)
newP (I# n) = IO $ \s -> case newPinnedByteArray# n s of (# s', a #) -> (# s', MB a #)
newA :: Int -> Int -> IO MB
newA (I# n) (I# k) = IO $ \s -> case newAlignedPinnedByteArray# n k s of (# s', a #) -> (# s', MB a #)
size :: MB -> IO Int
size (MB a) = IO $ \s -> case getSizeofMutableByteArray# a s of (# s', n #) -> (# s', I# n #)
shrink :: MB -> Int -> IO ()
shrink (MB a) (I# n) = IO $ \s -> case shrinkMutableByteArray# a n s of s' -> (# s', () #)
resize :: MB -> Int -> IO MB
resize (MB a) (I# n) = IO $ \s -> case resizeMutableByteArray# a n s of (# s', b #) -> (# s', MB b #)
wr :: MB -> Int -> Word8 -> IO ()
wr (MB a) (I# i) (W8# w) = IO $ \s -> case writeWord8Array# a i w s of s' -> (# s', () #)
rd :: MB -> Int -> IO Word8
rd (MB a) (I# i) = IO $ \s -> case readWord8Array# a i s of (# s', w #) -> (# s', W8# w #)
setB :: MB -> Int -> Int -> Int -> IO ()
setB (MB a) (I# o) (I# n) (I# v) = IO $ \s -> case setByteArray# a o n v s of s' -> (# s', () #)
copyMM :: MB -> Int -> MB -> Int -> Int -> IO ()
copyMM (MB a) (I# i) (MB b) (I# j) (I# n) = IO $ \s -> case copyMutableByteArray# a i b j n s of s' -> (# s', () #)
freeze :: MB -> IO BA
freeze (MB a) = IO $ \s -> case unsafeFreezeByteArray# a s of (# s', b #) -> (# s', BA b #)
pinned :: MB -> Bool
pinned (MB a) = isTrue# (isMutableByteArrayPinned# a)
pinnedB :: BA -> Bool
pinnedB (BA a) = isTrue# (isByteArrayPinned# a)
addr :: MB -> Int
addr (MB a) = I# (addr2Int# (byteArrayContents# (unsafeCoerce# a)))
cmp :: BA -> Int -> BA -> Int -> Int -> Ordering
cmp (BA a) (I# i) (BA b) (I# j) (I# n) = compare (I# (compareByteArrays# a i b j n)) 0
cas :: MB -> Int -> Int -> Int -> IO Int
cas (MB a) (I# i) (I# o) (I# n) = IO $ \s -> case casIntArray# a i o n s of (# s', r #) -> (# s', I# r #)
same :: MB -> MB -> Bool
same (MB a) (MB b) = isTrue# (sameMutableByteArray# a b)
touchB :: MB -> IO ()
touchB (MB a) = IO $ \s -> case touch# a s of s' -> (# s', () #)
keep :: MB -> IO r -> IO r
keep (MB a) (IO f) = IO $ \s -> keepAlive# a s f

main :: IO ()
main = do
  -- empty
  forM_ [newB 0, newP 0, newA 0 1, newA 0 64, newA 0 512] $ \mk -> do
    a <- mk
    size a >>= print
    shrink a 0
    b <- resize a 0
    print (same a b)
    c <- resize a 10
    setB c 0 10 7
    size c >>= print
    setB c 10 0 9; copyMM c 0 a 0 0; copyMM a 0 c 10 0
    mapM (rd c) [0..9] >>= print
    fa <- freeze a; fc <- freeze c
    print (cmp fa 0 fc 0 0, cmp fc 3 fc 4 6, cmp fc 10 fa 0 0)
  -- shrink to every length, then collect, then check the contents
  forM_ [newB, newP, \n -> newA n 32] $ \mk -> forM_ [1,7,8,9,16,17,63,64,65,200,1023] $ \n -> do
    a <- mk n
    forM_ [0..n-1] $ \i -> wr a i (fromIntegral (i * 7 + n))
    forM_ [n, n - 1 .. 0] $ \k -> do
      shrink a k
      when (k `mod` 64 == 5) performMinorGC
      s <- size a
      when (s /= k) $ putStrLn "size"
      x <- mapM (rd a) [0 .. min 4 k - 1]
      when (x /= [fromIntegral (i * 7 + n) | i <- [0 .. min 4 k - 1]]) $ print ("contents", n, k)
    b <- resize a n
    s <- size b
    print (n, s, pinned a)
  -- resize up and down, large and small
  forM_ [10, 3000, 9000, 100000, 2000000] $ \n -> do
    a <- newB n
    setB a 0 n 5
    wr a (n - 1) 99
    b <- resize a (n * 2)
    setB b n n 6
    performMajorGC
    c <- resize b (n - 1)
    x <- mapM (rd c) [0, n `div` 2, n - 2]
    d <- resize c (3 * n)
    performMajorGC
    y <- mapM (rd d) [0, n - 2]
    e <- resize d 1
    performMajorGC
    z <- rd e 0
    s <- mapM size [c, d, e]
    print (x, y, z, s)
  -- alignments
  forM_ [0 .. 9 :: Int] $ \k -> forM_ [1, 100, 5000, 50000] $ \n -> do
    a <- newA n (2 ^ k)
    keep a $ do
      let p = addr a
      setB a 0 n 1
      when (p `mod` 2 ^ k /= 0) $ print ("alignment", k, n)
      performMinorGC
      when (addr a /= p || not (pinned a)) $ print ("moved", k, n)
  -- overlap
  a <- newB 20
  let fill = forM_ [0 .. 19] $ \i -> wr a i (fromIntegral i)
  forM_ [(0, 5, 10), (5, 0, 10), (3, 3, 10), (0, 1, 19), (1, 0, 19), (7, 9, 0)] $ \(i, j, n) -> do
    fill
    copyMM a i a j n
    mapM (rd a) [0 .. 19] >>= print
  -- casIntArray
  w <- newB 24
  setB w 0 24 0
  cas w 1 0 5 >>= print
  cas w 1 0 6 >>= print
  cas w 1 5 (-1) >>= print
  cas w 1 (-1) 8 >>= print
  mapM (rd w) [0 .. 23] >>= print
  big <- newB 1000000
  print (pinned big)
  fb <- freeze big
  print (pinnedB fb)
  touchB big
