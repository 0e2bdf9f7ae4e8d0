-- SmallArray# primitives: copy, clone, freeze, thaw, cas, shrink.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import System.Mem
import Control.Monad

data SM a = SM (SmallMutableArray# RealWorld a)
data SA a = SA (SmallArray# a)

new :: Int -> a -> IO (SM a)
new (I# n) x = IO $ \s -> case newSmallArray# n x s of (# s', a #) -> (# s', SM a #)
rd :: SM a -> Int -> IO a
rd (SM a) (I# i) = IO (readSmallArray# a i)
wr :: SM a -> Int -> a -> IO ()
wr (SM a) (I# i) x = IO $ \s -> case writeSmallArray# a i x s of s' -> (# s', () #)
copyMM :: SM a -> Int -> SM a -> Int -> Int -> IO ()
copyMM (SM a) (I# i) (SM b) (I# j) (I# n) = IO $ \s -> case copySmallMutableArray# a i b j n s of s' -> (# s', () #)
frz :: SM a -> Int -> Int -> IO (SA a)
frz (SM a) (I# i) (I# n) = IO $ \s -> case freezeSmallArray# a i n s of (# s', b #) -> (# s', SA b #)
ufrz :: SM a -> IO (SA a)
ufrz (SM a) = IO $ \s -> case unsafeFreezeSmallArray# a s of (# s', b #) -> (# s', SA b #)
uthaw :: SA a -> IO (SM a)
uthaw (SA a) = IO $ \s -> case unsafeThawSmallArray# a s of (# s', b #) -> (# s', SM b #)
thaw :: SA a -> Int -> Int -> IO (SM a)
thaw (SA a) (I# i) (I# n) = IO $ \s -> case thawSmallArray# a i n s of (# s', b #) -> (# s', SM b #)
toL :: SA a -> [a]
toL (SA a) = [ case indexSmallArray# a i of (# x #) -> x | I# i <- [0 .. I# (sizeofSmallArray# a) - 1] ]
shrink :: SM a -> Int -> IO ()
shrink (SM a) (I# n) = IO $ \s -> case shrinkSmallMutableArray# a n s of s' -> (# s', () #)
size :: SM a -> IO Int
size (SM a) = IO $ \s -> case getSizeofSmallMutableArray# a s of (# s', n #) -> (# s', I# n #)
cas :: SM a -> Int -> a -> a -> IO Bool
cas (SM a) (I# i) o n = IO $ \s -> case casSmallArray# a i o n s of (# s', r, _ #) -> (# s', isTrue# (r ==# 0#) #)

main :: IO ()
main = do
  a <- new 20 []
  performMajorGC
  performMajorGC
  forM_ [1 .. 100 :: Int] $ \r -> do
    forM_ [0 .. 19] $ \i -> when ((r + i) `mod` 3 == 0) (rd a i >>= \old -> wr a i (r : old))
    when (r `mod` 9 == 0) performMinorGC
  mapM (fmap sum . rd a) [0 .. 19] >>= print
  copyMM a 0 a 4 16
  f <- frz a 2 6
  print (map length (toL f), map sum (toL f))
  t <- thaw f 1 2
  wr t 0 [-5]
  print (map sum (toL f))
  shrink a 7
  size a >>= print
  performMajorGC
  u <- ufrz a
  print (map sum (toL u))
  m <- uthaw u
  wr m 6 [1 .. 10]
  performMinorGC
  rd m 6 >>= print . sum
  old <- rd m 0
  b1 <- cas m 0 old [7]
  b2 <- cas m 0 old [8]
  v <- rd m 0
  print (b1, b2, v)
