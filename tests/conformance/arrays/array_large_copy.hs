-- Arrays of tens of thousands of elements cloned, frozen, thawed and copied while old and young.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Monad
import GHC.Exts hiding (toList)
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
freeze :: MA a -> Int -> Int -> IO (A a)
freeze (MA a) (I# i) (I# n) = IO $ \s -> case freezeArray# a i n s of (# s', b #) -> (# s', A b #)
thaw :: A a -> Int -> Int -> IO (MA a)
thaw (A a) (I# i) (I# n) = IO $ \s -> case thawArray# a i n s of (# s', b #) -> (# s', MA b #)
clone :: MA a -> Int -> Int -> IO (MA a)
clone (MA a) (I# i) (I# n) = IO $ \s -> case cloneMutableArray# a i n s of (# s', b #) -> (# s', MA b #)
copy :: MA a -> Int -> MA a -> Int -> Int -> IO ()
copy (MA a) (I# i) (MA b) (I# j) (I# n) = IO $ \s -> case copyMutableArray# a i b j n s of s' -> (# s', () #)
unsafeFreeze :: MA a -> IO (A a)
unsafeFreeze (MA a) = IO $ \s -> case unsafeFreezeArray# a s of (# s', b #) -> (# s', A b #)
unsafeThaw :: A a -> IO (MA a)
unsafeThaw (A a) = IO $ \s -> case unsafeThawArray# a s of (# s', b #) -> (# s', MA b #)
at :: A a -> Int -> a
at (A a) (I# i) = case indexArray# a i of (# x #) -> x

main :: IO ()
main = do
  m <- new 50000 [0 :: Int]
  performMajorGC
  performMajorGC
  forM_ [0, 11 .. 49999] $ \i -> wr m i [i, i]
  c <- clone m 100 40000
  performMinorGC
  f <- freeze m 5 30000
  t <- thaw f 10 20000
  forM_ [0, 501 .. 19999] $ \i -> wr t i [i * 2]
  performMinorGC
  -- Young values copied into an old array.
  fresh <- new 20000 []
  forM_ [0 .. 19999] $ \i -> wr fresh i [i `mod` 7]
  copy fresh 0 m 25000 20000
  copy m 24990 m 25010 15000
  performMinorGC
  performMajorGC
  s1 <- sum <$> mapM (fmap sum . rd m) [0 .. 49999]
  s2 <- sum <$> mapM (fmap sum . rd c) [0 .. 39999]
  s3 <- sum <$> mapM (fmap sum . rd t) [0 .. 19999]
  print (s1, s2, s3, sum (map (sum . at f) [0 .. 29999]))
  -- Frozen in place, thawed in place, and written again, across collections.
  u <- unsafeFreeze m
  performMajorGC
  v <- unsafeThaw u
  forM_ [1 .. 5 :: Int] $ \k -> wr v (k * 9000) [k] >> performMinorGC
  mapM (rd v . (* 9000)) [1 .. 5] >>= print
