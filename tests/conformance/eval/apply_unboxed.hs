-- Unknown functions over unboxed arguments of every kind and in mixes, saturated, partially applied and over-applied.
-- ghc: -O0 -threaded
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Data.IORef
import GHC.Exts
import GHC.Word

data FI = FI (Int# -> Int#)
data FD = FD (Double# -> Double#)
data FF = FF (Float# -> Float#)
data FII = FII (Int# -> Int# -> Int#)
data FMix = FMix (Int -> Int# -> Double# -> Int -> Float# -> Word# -> Double)
data FBig = FBig (Double# -> Double# -> Double# -> Double# -> Double# -> Double# -> Double# -> Int# -> Int# -> Int# -> Int# -> Int# -> Int# -> Float# -> Int -> Int -> Double)
data FRet = FRet (Int# -> Int -> Double# -> Int)
data FVoid = FVoid ((# #) -> Int)
data FState = FState (Int# -> State# RealWorld -> (# State# RealWorld, Int #))

{-# NOINLINE opaque #-}
opaque :: IORef a -> IO a
opaque = readIORef

mix :: Int -> Int# -> Double# -> Int -> Float# -> Word# -> Double
mix a b c d e f = fromIntegral (a * 100000 + I# b * 10000) + D# c * 1000 + fromIntegral d * 100 + realToFrac (F# e) * 10 + fromIntegral (W# f)

big :: Double# -> Double# -> Double# -> Double# -> Double# -> Double# -> Double# -> Int# -> Int# -> Int# -> Int# -> Int# -> Int# -> Float# -> Int -> Int -> Double
big a b c d e f g h i j k l m n o p =
  foldl (\acc x -> acc * 2 + x) 0
    [D# a, D# b, D# c, D# d, D# e, D# f, D# g, fromIntegral (I# h), fromIntegral (I# i), fromIntegral (I# j), fromIntegral (I# k), fromIntegral (I# l), fromIntegral (I# m), realToFrac (F# n), fromIntegral o, fromIntegral p]

-- Arity one, returning an unknown function of the rest.
ret :: Int# -> Int -> Double# -> Int
ret a = case a of
  0# -> \b _ -> b
  _ -> \b -> if b > 5 then \d -> I# a + truncate (D# d) else \_ -> negate b

main :: IO ()
main = do
  FI i <- newIORef (FI (\x -> x *# 3#)) >>= opaque
  FD d <- newIORef (FD (\x -> x *## 1.5##)) >>= opaque
  FF f <- newIORef (FF (\x -> timesFloat# x 2.5#)) >>= opaque
  FII ii <- newIORef (FII (\x y -> x -# y)) >>= opaque
  print (I# (i 14#), D# (d 3.0##), F# (f 4.0#), I# (ii 10# 3#))
  FMix m <- newIORef (FMix mix) >>= opaque
  print (m 1 2# 3.0## 4 5.0# 6##)
  let p1 = m 1
      p2 = m 1 2#
      p3 = m 1 2# 3.0##
      p4 = m 1 2# 3.0## 4
      p5 = m 1 2# 3.0## 4 5.0#
  print [p1 2# 3.0## 4 5.0# 7##, p2 3.0## 4 5.0# 8##, p3 4 5.0# 9##, p4 5.0# 10##, p5 11##]
  FBig b <- newIORef (FBig big) >>= opaque
  print (b 1.0## 2.0## 3.0## 4.0## 5.0## 6.0## 7.0## 8# 9# 10# 11# 12# 13# 14.0# 15 16)
  let b7 = b 1.0## 2.0## 3.0## 4.0## 5.0## 6.0## 7.0##
      b12 = b7 8# 9# 10# 11# 12#
      b14 = b12 13# 14.0#
  print (b14 15 16, b12 13# 14.0# 15 17, b7 8# 9# 10# 11# 12# 13# 14.0# 15 18)
  FRet r <- newIORef (FRet ret) >>= opaque
  print (r 0# 7 1.0##, r 5# 6 2.5##, r 5# 4 2.5##)
  FVoid v <- newIORef (FVoid (\(# #) -> 77)) >>= opaque
  print (v (# #))
  FState s <- newIORef (FState (\n st -> (# st, I# (n *# 2#) #))) >>= opaque
  x <- IO' (s 21#) `seq` runS (s 21#)
  print x
  let ws = map (\(W64# w) -> W64# (w `plusWord#` 1##)) [maxBound, 0, 41]
  print ws
  where runS k = ioOf k

newtype IO' = IO' (State# RealWorld -> (# State# RealWorld, Int #))

ioOf :: (State# RealWorld -> (# State# RealWorld, Int #)) -> IO Int
ioOf k = newIORef () >> return (case runRW# k of (# _, n #) -> n)
