-- Immutable boxed arrays: indexing, accumulation, lazy self-reference, two dimensions.
import Data.Array

main :: IO ()
main = do
  let a = listArray (0, 9) [i * i | i <- [0 ..]] :: Array Int Int
  print (a ! 5, bounds a, sum (elems a))
  print (a // [(2, 100), (3, 200)])
  let n = 60
      t = array ((0, 0), (n, n)) [((i, j), f i j) | i <- [0 .. n], j <- [0 .. n]] :: Array (Int, Int) Integer
      f 0 _ = 1
      f _ 0 = 1
      f i j = t ! (i - 1, j) + t ! (i, j - 1)
  print (t ! (n, n))
  print (accumArray (+) 0 ('a', 'e') [(c, 1) | c <- "abracadabbe", c <= 'e'] :: Array Char Int)
  print (fmap (`div` 2) (ixmap (0, 3) (9 -) a))
