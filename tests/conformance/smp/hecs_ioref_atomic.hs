-- On several HECs: atomic operations on variables and arrays lose nothing.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Exts
import GHC.IO (IO (..))

data Bytes = Bytes (MutableByteArray# RealWorld)
data Boxes = Boxes (MutableArray# RealWorld Int)
data Small = Small (SmallMutableArray# RealWorld Int)

casBox :: Boxes -> Int -> IO ()
casBox (Boxes a) (I# i) = IO loop
  where
    loop s0 = case readArray# a i s0 of
      (# s1, old@(I# n) #) -> case casArray# a i old (I# (n +# 1#)) s1 of
        (# s2, 0#, _ #) -> (# s2, () #)
        (# s2, _, _ #) -> loop s2

casSmall :: Small -> Int -> IO ()
casSmall (Small a) (I# i) = IO loop
  where
    loop s0 = case readSmallArray# a i s0 of
      (# s1, old@(I# n) #) -> case casSmallArray# a i old (I# (n +# 1#)) s1 of
        (# s2, 0#, _ #) -> (# s2, () #)
        (# s2, _, _ #) -> loop s2

casBytes :: Bytes -> Int -> IO ()
casBytes (Bytes a) (I# i) = IO loop
  where
    loop s0 = case readIntArray# a i s0 of
      (# s1, old #) -> case casIntArray# a i old (old +# 1#) s1 of
        (# s2, found #) -> case found ==# old of
          1# -> (# s2, () #)
          _ -> loop s2

main :: IO ()
main = do
  strict <- newIORef (0 :: Int)
  lazy <- newIORef (0 :: Int)
  swaps <- newIORef (0 :: Int)
  bytes <- IO (\s -> case newByteArray# 64# s of (# s1, a #) -> (# setByteArray# a 0# 64# 0# s1, Bytes a #))
  boxes <- IO (\s -> case newArray# 500# (0 :: Int) s of (# s1, a #) -> (# s1, Boxes a #))
  small <- IO (\s -> case newSmallArray# 8# (0 :: Int) s of (# s1, a #) -> (# s1, Small a #))
  dones <- forM [1 .. 8 :: Int] $ \k -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 2000] $ \i -> do
        atomicModifyIORef' strict (\n -> (n + 1, ()))
        atomicModifyIORef lazy (\n -> (n + i, ()))
        _ <- atomicModifyIORef' swaps (\n -> (n + k, n))
        case bytes of Bytes a -> IO (\s -> case fetchAddIntArray# a 1# 3# s of (# s1, _ #) -> (# s1, () #))
        casBytes bytes 0
        casBox boxes (i `mod` 500)
        casSmall small (i `mod` 8)
        when (i `mod` 100 == 0) $ void (evaluateList [1 .. 200])
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  a <- readIORef strict
  b <- readIORef lazy
  c <- readIORef swaps
  let byte i = case bytes of Bytes m -> case i of I# j -> IO (\s -> case readIntArray# m j s of (# s1, x #) -> (# s1, I# x #))
  d <- mapM byte [0, 1]
  let box i = case boxes of Boxes m -> case i of I# j -> IO (readArray# m j)
      sm i = case small of Small m -> case i of I# j -> IO (readSmallArray# m j)
  e <- sum <$> mapM box [0 .. 499]
  f <- sum <$> mapM sm [0 .. 7]
  print (a, b, c, d, e, f)

evaluateList :: [Int] -> IO Int
evaluateList xs = pure $! sum (reverse xs)
