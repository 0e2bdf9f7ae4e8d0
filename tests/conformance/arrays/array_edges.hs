-- Arrays of pointers at their edges: empty, shrunk while old, thawed twice, cloned and copied at the bounds of cards
-- and large objects, overlapping.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import Control.Monad
import Data.IORef
import System.Mem

data SM a = SM (SmallMutableArray# RealWorld a)
data SA a = SA (SmallArray# a)
data MA a = MA (MutableArray# RealWorld a)
data A a = A (Array# a)
newS :: Int -> a -> IO (SM a)
newS (I# n) x = IO $ \s -> case newSmallArray# n x s of (# s', a #) -> (# s', SM a #)
newM :: Int -> a -> IO (MA a)
newM (I# n) x = IO $ \s -> case newArray# n x s of (# s', a #) -> (# s', MA a #)
szS :: SM a -> IO Int
szS (SM a) = IO $ \s -> case getSizeofSmallMutableArray# a s of (# s', n #) -> (# s', I# n #)
rdS :: SM a -> Int -> IO a
rdS (SM a) (I# i) = IO (readSmallArray# a i)
wrS :: SM a -> Int -> a -> IO ()
wrS (SM a) (I# i) x = IO $ \s -> case writeSmallArray# a i x s of s' -> (# s', () #)
rdM :: MA a -> Int -> IO a
rdM (MA a) (I# i) = IO (readArray# a i)
wrM :: MA a -> Int -> a -> IO ()
wrM (MA a) (I# i) x = IO $ \s -> case writeArray# a i x s of s' -> (# s', () #)
shrinkS :: SM a -> Int -> IO ()
shrinkS (SM a) (I# n) = IO $ \s -> case shrinkSmallMutableArray# a n s of s' -> (# s', () #)
ufS :: SM a -> IO (SA a)
ufS (SM a) = IO $ \s -> case unsafeFreezeSmallArray# a s of (# s', b #) -> (# s', SA b #)
utS :: SA a -> IO (SM a)
utS (SA a) = IO $ \s -> case unsafeThawSmallArray# a s of (# s', b #) -> (# s', SM b #)
ufM :: MA a -> IO (A a)
ufM (MA a) = IO $ \s -> case unsafeFreezeArray# a s of (# s', b #) -> (# s', A b #)
utM :: A a -> IO (MA a)
utM (A a) = IO $ \s -> case unsafeThawArray# a s of (# s', b #) -> (# s', MA b #)
cloneSA :: SA a -> Int -> Int -> SA a
cloneSA (SA a) (I# i) (I# n) = SA (cloneSmallArray# a i n)
cloneA :: A a -> Int -> Int -> A a
cloneA (A a) (I# i) (I# n) = A (cloneArray# a i n)
cloneSM :: SM a -> Int -> Int -> IO (SM a)
cloneSM (SM a) (I# i) (I# n) = IO $ \s -> case cloneSmallMutableArray# a i n s of (# s', b #) -> (# s', SM b #)
cloneMM :: MA a -> Int -> Int -> IO (MA a)
cloneMM (MA a) (I# i) (I# n) = IO $ \s -> case cloneMutableArray# a i n s of (# s', b #) -> (# s', MA b #)
copySA :: SA a -> Int -> SM a -> Int -> Int -> IO ()
copySA (SA a) (I# i) (SM b) (I# j) (I# n) = IO $ \s -> case copySmallArray# a i b j n s of s' -> (# s', () #)
copySM :: SM a -> Int -> SM a -> Int -> Int -> IO ()
copySM (SM a) (I# i) (SM b) (I# j) (I# n) = IO $ \s -> case copySmallMutableArray# a i b j n s of s' -> (# s', () #)
copyAA :: A a -> Int -> MA a -> Int -> Int -> IO ()
copyAA (A a) (I# i) (MA b) (I# j) (I# n) = IO $ \s -> case copyArray# a i b j n s of s' -> (# s', () #)
copyMM :: MA a -> Int -> MA a -> Int -> Int -> IO ()
copyMM (MA a) (I# i) (MA b) (I# j) (I# n) = IO $ \s -> case copyMutableArray# a i b j n s of s' -> (# s', () #)
elS :: SA a -> [a]
elS (SA a) = [case indexSmallArray# a i of (# x #) -> x | I# i <- [0 .. I# (sizeofSmallArray# a) - 1]]
elM :: A a -> [a]
elM (A a) = [case indexArray# a i of (# x #) -> x | I# i <- [0 .. I# (sizeofArray# a) - 1]]
casS :: SM a -> Int -> a -> a -> IO (Bool, a)
casS (SM a) (I# i) o n = IO $ \s -> case casSmallArray# a i o n s of (# s', f, x #) -> (# s', (isTrue# f, x) #)
casM :: MA a -> Int -> a -> a -> IO (Bool, a)
casM (MA a) (I# i) o n = IO $ \s -> case casArray# a i o n s of (# s', f, x #) -> (# s', (isTrue# f, x) #)

main :: IO ()
main = do
  -- empty ones
  s0 <- newS 0 'x'; m0 <- newM 0 'x'
  szS s0 >>= print
  shrinkS s0 0
  copySM s0 0 s0 0 0; copyMM m0 0 m0 0 0
  fs0 <- ufS s0; fm0 <- ufM m0
  print (elS fs0, elM fm0, elS (cloneSA fs0 0 0), elM (cloneA fm0 0 0))
  s0' <- utS fs0; m0' <- utM fm0
  copySA fs0 0 s0' 0 0; copyAA fm0 0 m0' 0 0
  -- old, shrunk by one at a time, with young elements
  forM_ [1, 2, 3, 60, 500, 5000] $ \n -> do
    a <- newS n (0 :: Int)
    performMajorGC
    forM_ [n, n - max 1 (n `div` 40) .. 0] $ \k -> do
      shrinkS a k
      forM_ [0, k `div` 2, k - 1] $ \i -> when (i >= 0 && k > 0) $ wrS a i (k * 3)
      when (odd k) performMinorGC
      z <- szS a
      x <- forM [i | k > 0, i <- [0, k `div` 2, k - 1]] (rdS a)
      when (z /= k || any (/= k * 3) x) $ print (n, k, z, x)
    z <- szS a
    f <- ufS a
    print (z, length (elS f))
  -- freeze, thaw, again and again, with young elements written to old arrays
  a <- newS 40 [0 :: Int]; m <- newM 400 [0 :: Int]
  performMajorGC
  ra <- newIORef a; rm <- newIORef m
  forM_ [1 .. 300] $ \i -> do
    a <- readIORef ra; m <- readIORef rm
    wrS a (i `mod` 40) [i]; wrM m (i * 7 `mod` 400) [i]
    when (i `mod` 3 == 0) performMinorGC
    fa <- ufS a; fm <- ufM m
    when (i `mod` 5 == 0) performMinorGC
    when (i `mod` 50 == 0) performMajorGC
    a' <- utS fa; m' <- utM fm
    when (i `mod` 7 == 0) $ void $ utS fa
    when (i `mod` 7 == 0) $ void $ utM fm
    when (i `mod` 11 == 0) performMinorGC
    writeIORef ra a'; writeIORef rm m'
  fa <- readIORef ra >>= ufS; fm <- readIORef rm >>= ufM
  print (sum (concat (elS fa)), sum (concat (elM fm)))
  -- clones of everything, at the borders of cards and of large objects
  forM_ [0, 1, 127, 128, 129, 255, 256, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 3000] $ \n -> do
    m <- newM 4000 0
    forM_ [0 .. 3999] $ \i -> wrM m i i
    s <- newS 4000 0
    forM_ [0 .. 3999] $ \i -> wrS s i i
    c <- cloneMM m 7 n; d <- cloneSM s 7 n
    performMinorGC
    c' <- ufM c; d' <- ufS d
    when (elM c' /= [7 .. 6 + n] || elS d' /= [7 .. 6 + n]) $ print ("clone", n)
    m' <- ufM m; s' <- ufS s
    let x = cloneA m' 11 n; y = cloneSA s' 11 n
    performMinorGC
    when (elM x /= [11 .. 10 + n] || elS y /= [11 .. 10 + n]) $ print ("clone", n)
    t <- newM (n + 2) (-1); u <- newS (n + 2) (-1)
    performMajorGC
    copyAA m' 5 t 1 n; copySA s' 5 u 1 n
    performMinorGC
    t' <- ufM t; u' <- ufS u
    when (elM t' /= [-1] ++ [5 .. 4 + n] ++ [-1] || elS u' /= elM t') $ print ("copy", n)
  -- overlap
  forM_ [(0, 130, 200), (130, 0, 200), (1, 0, 399), (0, 1, 399), (5, 5, 300), (0, 400, 0), (400, 0, 0)] $ \(i, j, n) -> do
    m <- newM 400 0; s <- newS 400 0
    forM_ [0 .. 399] $ \k -> wrM m k k >> wrS s k k
    copyMM m i m j n; copySM s i s j n
    performMinorGC
    x <- ufM m; y <- ufS s
    let want = [0 .. j - 1] ++ [i .. i + n - 1] ++ [j + n .. 399]
    print (elM x == want, elS y == want)
  -- cas
  let v = 1 :: Int
  s <- newS 3 v; m <- newM 300 v
  performMajorGC
  o <- rdS s 1
  (f, x) <- casS s 1 o 20
  print (f, x)
  (f, x) <- casS s 1 o 30
  print (f, x)
  o <- rdM m 200
  (f, x) <- casM m 200 o 20
  print (f, x)
  performMinorGC
  (f, x') <- casM m 200 x 40
  print (f, x')
  performMinorGC
  rdM m 200 >>= print
