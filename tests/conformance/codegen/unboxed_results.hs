-- Functions that return unboxed tuples and sums of more components than there are registers, across deep stacks.
{-# LANGUAGE MagicHash, UnboxedTuples, UnboxedSums #-}
import GHC.Exts

{-# NOINLINE many #-}
many :: Int -> (# Int, Int#, Double#, Float#, Int, Word#, Char#, Int, Double#, Int#, [Int], Int#, Int, Int, Double# #)
many n@(I# n#)
  | n == 0 = (# 0, 1#, 2.0##, 3.0#, 4, 5##, 'a'#, 7, 8.0##, 9#, [], 11#, 12, 13, 14.0## #)
  | otherwise = case many (n - 1) of
      (# a, b, c, d, e, f, g, h, i, j, k, l, m, o, p #) ->
        (# a + n, b +# n#, c +## 1.0##, plusFloat# d 1.0#, e + 1, plusWord# f 2##, g, h - 1, i *## 1.0001##, j -# 1#, if n < 4 then n : k else k, l +# 3#, m + a, o `xorI` n, p +## c #)

xorI :: Int -> Int -> Int
xorI (I# a) (I# b) = I# (xorI# a b)

{-# NOINLINE pick #-}
pick :: Int -> (# Int | Double# | (# Int, Char #) | String | (# #) #)
pick n = case n `mod` 5 of
  0 -> (# n | | | | #)
  1 -> (# | 2.5## | | | #)
  2 -> (# | | (# n, 'c' #) | | #)
  3 -> (# | | | show n | #)
  _ -> (# | | | | (# #) #)

render :: (# Int | Double# | (# Int, Char #) | String | (# #) #) -> String
render (# i | | | | #) = "int " ++ show i
render (# | d | | | #) = "double " ++ show (D# d)
render (# | | (# i, c #) | | #) = show (i, c)
render (# | | | s | #) = s
render (# | | | | (# #) #) = "nothing"

main :: IO ()
main = case many 40000 of
  (# a, b, c, d, e, f, g, h, i, j, k, l, m, o, p #) -> do
    print (a, I# b, D# c, F# d, e, W# f, C# g)
    print (h, D# i, I# j, k, I# l, m, o)
    print (D# p)
    mapM_ (putStrLn . render') [0 .. 9]
  where render' n = render (pick n)
