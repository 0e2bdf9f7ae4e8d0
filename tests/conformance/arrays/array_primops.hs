-- Array# and MutableArray# primitives: copy, overlapping copy, clone, freeze, thaw, sizes, identity and casArray#.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import System.Mem

data MA a = MA (MutableArray# RealWorld a)
data A a = A (Array# a)

new :: Int -> a -> IO (MA a)
new (I# n) x = IO $ \s -> case newArray# n x s of (# s', a #) -> (# s', MA a #)
rd :: MA a -> Int -> IO a
rd (MA a) (I# i) = IO (readArray# a i)
wr :: MA a -> Int -> a -> IO ()
wr (MA a) (I# i) x = IO $ \s -> case writeArray# a i x s of s' -> (# s', () #)
copyMM :: MA a -> Int -> MA a -> Int -> Int -> IO ()
copyMM (MA a) (I# i) (MA b) (I# j) (I# n) = IO $ \s -> case copyMutableArray# a i b j n s of s' -> (# s', () #)
copyAM :: A a -> Int -> MA a -> Int -> Int -> IO ()
copyAM (A a) (I# i) (MA b) (I# j) (I# n) = IO $ \s -> case copyArray# a i b j n s of s' -> (# s', () #)
elemsOf :: A a -> [a]
elemsOf (A a) = [ case indexArray# a i of (# x #) -> x | I# i <- [0 .. I# (sizeofArray# a) - 1] ]
freezeC, thawless :: MA a -> Int -> Int -> IO (A a)
freezeC (MA a) (I# i) (I# n) = IO $ \s -> case freezeArray# a i n s of (# s', b #) -> (# s', A b #)
thawless (MA a) _ _ = IO $ \s -> case unsafeFreezeArray# a s of (# s', b #) -> (# s', A b #)
thaw :: A a -> Int -> Int -> IO (MA a)
thaw (A a) (I# i) (I# n) = IO $ \s -> case thawArray# a i n s of (# s', b #) -> (# s', MA b #)
unsafeThaw' :: A a -> IO (MA a)
unsafeThaw' (A a) = IO $ \s -> case unsafeThawArray# a s of (# s', b #) -> (# s', MA b #)
cloneA :: A a -> Int -> Int -> A a
cloneA (A a) (I# i) (I# n) = A (cloneArray# a i n)
cloneM :: MA a -> Int -> Int -> IO (MA a)
cloneM (MA a) (I# i) (I# n) = IO $ \s -> case cloneMutableArray# a i n s of (# s', b #) -> (# s', MA b #)
same :: MA a -> MA a -> Bool
same (MA a) (MA b) = isTrue# (sameMutableArray# a b)
size :: MA a -> Int
size (MA a) = I# (sizeofMutableArray# a)
cas :: MA a -> Int -> a -> a -> IO Bool
cas (MA a) (I# i) old v = IO $ \s -> case casArray# a i old v s of (# s', r, _ #) -> (# s', isTrue# (r ==# 0#) #)

main :: IO ()
main = do
  a <- new 300 (0 :: Int)
  mapM_ (\i -> wr a i (i * i)) [0 .. 299]
  performMajorGC
  copyMM a 0 a 5 290
  mapM (rd a) [0 .. 8] >>= print
  copyMM a 10 a 0 200
  mapM (rd a) [0, 1, 199, 200, 299] >>= print
  copyMM a 3 a 3 0
  f <- freezeC a 100 5
  print (elemsOf f)
  t <- thaw f 1 3
  wr t 0 (-1)
  print (elemsOf f)
  mapM (rd t) [0 .. 2] >>= print
  c <- cloneM a 250 50
  print (size c, same a a, same a c, size a)
  let cf = cloneA f 2 2
  print (elemsOf cf, elemsOf (cloneA f 0 0))
  u <- thawless t 0 0
  print (elemsOf u)
  t2 <- unsafeThaw' u
  performMajorGC
  wr t2 1 (product [1 .. 10])
  performMinorGC
  mapM (rd t2) [0 .. 2] >>= print
  copyAM f 0 a 295 5
  mapM (rd a) [294 .. 299] >>= print
  v <- rd a 7
  ok <- cas a 7 v 4242
  ok2 <- cas a 7 v 1
  x <- rd a 7
  print (ok, ok2, x)
  e <- new 0 'x'
  fe <- freezeC e 0 0
  print (length (elemsOf fe), size e)
