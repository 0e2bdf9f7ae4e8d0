-- atomicModifyMutVar2#, atomicModifyMutVar_# and casMutVar#: lazy in everything, of records of any shape, on variables
-- old and young, from threads.
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import GHC.Exts
import GHC.IO (IO (..))
import Control.Exception
import Control.Monad
import Control.Concurrent
import Data.IORef
import System.Mem
import System.IO.Unsafe

data MV a = MV (MutVar# RealWorld a)
newV :: a -> IO (MV a)
newV x = IO $ \s -> case newMutVar# x s of (# s', v #) -> (# s', MV v #)
rd :: MV a -> IO a
rd (MV v) = IO (readMutVar# v)
wr :: MV a -> a -> IO ()
wr (MV v) x = IO $ \s -> case writeMutVar# v x s of s' -> (# s', () #)
mod2 :: MV a -> (a -> c) -> IO (a, c)
mod2 (MV v) f = IO $ \s -> case atomicModifyMutVar2# v f s of (# s', a, c #) -> (# s', (a, c) #)
mod_ :: MV a -> (a -> a) -> IO (a, a)
mod_ (MV v) f = IO $ \s -> case atomicModifyMutVar_# v f s of (# s', a, c #) -> (# s', (a, c) #)
cas :: MV a -> a -> a -> IO (Bool, a)
cas (MV v) o n = IO $ \s -> case casMutVar# v o n s of (# s', f, x #) -> (# s', (isTrue# f, x) #)

main :: IO ()
main = do
  v <- newV (0 :: Int)
  -- lazy: neither the function nor the old value is looked at
  wr v (error "old")
  (_, r) <- mod2 v (const (5, 'x'))
  rd v >>= print
  print r
  (_, r) <- mod2 v (\x -> (error "new", x))
  print (snd r)
  x <- try (rd v >>= evaluate); putStrLn (either (\(ErrorCall m) -> m) show x)
  (_, _) <- mod2 v (error "function")
  x <- try (rd v >>= evaluate); putStrLn (either (\(ErrorCall m) -> m) show x)
  (_, r) <- mod2 v (const (error "pair" :: (Int, ())))
  x <- try (rd v >>= evaluate); putStrLn (either (\(ErrorCall m) -> m) show x)
  x <- try (evaluate r); putStrLn (either (\(ErrorCall m) -> m) show x)
  (_, n) <- mod_ v (const 9)
  performMajorGC
  (a, b) <- mod_ v (+ 1)
  print (a, b, n)
  rd v >>= print
  -- the first field of records of other shapes
  (o, t) <- mod2 v (\x -> (x + 1, 'a', "b"))
  print (o, t)
  rd v >>= print
  -- the pair depends on itself through the variable
  (_, p) <- mod2 v (\x -> let y = unsafePerformIO (rd v) in (x * 2, y))
  print (fst p); rd v >>= print; print (snd p)
  -- cas
  w <- newV 'a'
  o <- rd w
  performMajorGC
  cas w o 'b' >>= print
  (f, x) <- cas w o 'c'
  print (f, x)
  cas w x 'd' >>= print . fst
  performMinorGC
  rd w >>= print
  -- old variables, young values, with collections between, long chains of modifications
  vs <- replicateM 200 (newV [0 :: Int])
  performMajorGC; performMajorGC
  forM_ [1 .. 50 :: Int] $ \i -> do
    forM_ (zip [0 ..] vs) $ \(k, u) -> case (k + i) `mod` 4 of
      0 -> void (mod2 u (\l -> (i : l, ())))
      1 -> void (mod_ u (i :))
      2 -> do o <- rd u; void (cas u o (i : o))
      _ -> rd u >>= \l -> wr u (i : l)
    when (i `mod` 3 == 0) performMinorGC
    when (i `mod` 17 == 0) performMajorGC
  ls <- mapM rd vs
  print (all (== [50, 49 .. 0]) ls)
  c <- newV (0 :: Int)
  forM_ [1 .. 100000 :: Int] $ \i -> mod2 c (\x -> (x + i, ()))
  rd c >>= print
  done <- newEmptyMVar
  forM_ [1 .. 8 :: Int] $ \_ -> forkIO $ do
    forM_ [1 .. 2000 :: Int] $ \i -> if even i then void (mod_ c (+ 1)) else void (mod2 c (\x -> (x + 1, ())))
    putMVar done ()
  replicateM_ 8 (takeMVar done)
  rd c >>= print
