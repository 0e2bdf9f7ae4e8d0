{-# LANGUAGE MagicHash, UnboxedTuples #-}
-- Old arrays get young elements by the ways that leave the barrier to the runtime: an exchange, a thaw, and a copy by a
-- function that is not known where it is called.
import Control.Monad
import GHC.Exts
import GHC.IO (IO (..))
import System.Mem

data Variable = Variable (MutableArray# RealWorld [Int])
data Constant = Constant (Array# [Int])

new :: Int -> IO Variable
new (I# n) = IO $ \s -> case newArray# n [] s of (# s1, a #) -> (# s1, Variable a #)

get :: Variable -> Int -> IO [Int]
get (Variable a) (I# i) = IO (readArray# a i)

put :: Variable -> Int -> [Int] -> IO ()
put (Variable a) (I# i) x = IO $ \s -> (# writeArray# a i x s, () #)

exchange :: Variable -> Int -> [Int] -> IO Bool
exchange v@(Variable a) i@(I# i') x = get v i >>= \old -> IO $ \s -> case casArray# a i' old x s of
  (# s1, failed, _ #) -> (# s1, isTrue# (failed ==# 0#) #)

freeze :: Variable -> IO Constant
freeze (Variable a) = IO $ \s -> case unsafeFreezeArray# a s of (# s1, c #) -> (# s1, Constant c #)

thaw :: Constant -> IO Variable
thaw (Constant c) = IO $ \s -> case unsafeThawArray# c s of (# s1, a #) -> (# s1, Variable a #)

type Elements = MutableArray# RealWorld [Int]

data Copy = Copy (Elements -> Int# -> Elements -> Int# -> Int# -> State# RealWorld -> State# RealWorld)

copyOf :: Int -> Copy
copyOf 0 = Copy copyMutableArray#
copyOf _ = Copy (\_ _ _ _ _ s -> s)
{-# NOINLINE copyOf #-}

copy :: Int -> Variable -> Variable -> Int -> IO ()
copy how (Variable from) (Variable to) (I# n) = case copyOf how of
  Copy f -> IO $ \s -> (# f from 0# to 0# n s, () #)

young :: Int -> [Int]
young i = [i, i + 1, i + 2]
{-# NOINLINE young #-}

ageArray :: IO ()
ageArray = replicateM_ 3 performMajorGC

total :: Variable -> Int -> IO Int
total a n = sum <$> mapM (fmap sum . get a) [0 .. n - 1]

main :: IO ()
main = forM_ [1, 127, 128, 129, 1000, 40000] $ \n -> do
  let places = filter (< n) [0, 1, 127, 128, 500, n - 1]
  a <- new n
  ageArray
  done <- forM places $ \i -> do
    ok <- exchange a i $! young i
    performMinorGC
    return ok
  replicateM_ 2 performMinorGC
  x <- total a n
  c <- freeze a
  ageArray
  b <- thaw c
  forM_ places $ \i -> put b i (young (i + 1000)) >> performMinorGC
  replicateM_ 2 performMinorGC
  y <- total b n
  source <- new n
  forM_ [0 .. n - 1] $ \i -> put source i (young i)
  copy 0 source b n
  replicateM_ 3 performMinorGC
  z <- total b n
  print (n, and done, x, y, z)
