-- Unboxed arrays of several element types, built in ST.
{-# LANGUAGE FlexibleContexts #-}
import Data.Array.ST
import Data.Array.Unboxed
import Data.Word

sieve :: Int -> UArray Int Bool
sieve n = runSTUArray $ do
  a <- newArray (2, n) True
  let go i | i * i > n = return ()
           | otherwise = do
               p <- readArray a i
               if p then mapM_ (\j -> writeArray a j False) [i * i, i * i + i .. n] else return ()
               go (i + 1)
  go 2
  return a

main :: IO ()
main = do
  print (length (filter id (elems (sieve 100000))))
  let w = listArray (0, 299) [fromIntegral i | i <- [0 :: Int ..]] :: UArray Int Word8
  print (sum (map fromIntegral (elems w)) :: Int)
  let d = listArray (0, 9) (map sqrt [0 ..]) :: UArray Int Double
  print (accum (+) d [(0, 0.5), (9, 1)] ! 9)
  print (listArray (1, 5) "hello" :: UArray Int Char)
