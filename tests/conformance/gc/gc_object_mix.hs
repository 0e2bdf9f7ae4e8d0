-- Every kind of heap object alive across collections: constructors by shape, functions, PAPs, thunks by shape, arrays.
-- ghc: -O0 -threaded
{-# LANGUAGE BangPatterns, MagicHash #-}
import GHC.Exts
import Control.Monad
import System.Mem

data C = C0 | C1 Int | C2 Int C | C01 Int# | C11 C Int# | C02 Double# Double# | C20 C C
       | C3 C C C | C13 Int Double# Float# Word# | C4 Int Int Int Int Int# Char#

val :: C -> Double
val C0 = 1
val (C1 n) = fromIntegral n
val (C2 n c) = fromIntegral n + val c
val (C01 n) = fromIntegral (I# n)
val (C11 c n) = val c * 2 + fromIntegral (I# n)
val (C02 a b) = D# a + D# b
val (C20 a b) = val a - val b
val (C3 a b c) = val a + val b + val c
val (C13 n d f w) = fromIntegral n + D# d + realToFrac (F# f) + fromIntegral (W# w)
val (C4 a b c d e f) = fromIntegral (a + b + c + d + I# e) + fromIntegral (fromEnum (C# f))

mk :: Int -> C
mk n@(I# n#) = case n `mod` 10 of
  0 -> C0
  1 -> C1 n
  2 -> C2 n (mk (n `div` 2))
  3 -> C01 n#
  4 -> C11 (mk (n `div` 3)) n#
  5 -> C02 (int2Double# n#) 0.5##
  6 -> C20 (mk (n `div` 2)) (mk (n `div` 4))
  7 -> C3 (mk (n - 1)) (mk (n - 2)) (C1 n)
  8 -> C13 n (int2Double# n#) 1.0# (int2Word# n#)
  _ -> C4 n n n n n# 'z'#

closures :: Int -> [Int -> Int]
closures n@(I# n#) =
  let !d = D# (int2Double# n#)
      m = n * 2
      s = show n
  in [ \x -> x + n, \x -> x + m, \x -> x + length s, \x -> x + truncate d + n + m, (+) n, const m, subtract (length s)
     , \x -> x + I# (n# *# 2#), foldr (.) id [(+ n), (* 2)] ]

main :: IO ()
main = do
  let cs = map mk [1 .. 3000]
      fs = concatMap closures [1 .. 500]
      late = map val cs
  performMajorGC
  print (sum (map val cs))
  print (sum (map ($ 3) fs))
  performMinorGC
  forM_ [1 .. 3 :: Int] $ \_ -> performMajorGC
  print (sum late)
  print (sum (zipWith ($) fs [1 ..]))
