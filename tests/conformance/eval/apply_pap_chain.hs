-- Partial applications of partial applications, kept in data structures over many collections and then finished.
import Data.IORef
import Control.Monad
import System.Mem

{-# NOINLINE ten #-}
ten :: Int -> Integer -> String -> Double -> Bool -> Char -> [Int] -> Maybe Int -> Int -> Int -> String
ten a b c d e f g h i j = show (a, b, c, d, e) ++ show (f, g, h, i, j)

{-# NOINLINE viaList #-}
viaList :: [a -> a] -> a -> a
viaList fs x = foldr ($) x fs

main :: IO ()
main = do
  refs <- forM [1 .. 50] $ \n -> newIORef (ten n)
  performGC
  two <- forM refs (fmap ($ (2 ^ (70 :: Int))) . readIORef)
  let four = zipWith (\f n -> f (show n) (fromIntegral n / 4)) two [1 :: Int ..]
  performGC
  let five = map ($ True) four
      six = map ($ 'q') five
  print (length (show (product [1 .. 500 :: Integer])))
  let eight = zipWith (\f n -> f [n, n] (Just n)) six [1 ..]
  performGC
  let nine = map ($ 9) eight
  putStrLn (last nine 10)
  print (sum (map (length . ($ 10)) nine))
  print (viaList (replicate 1000 (+ 1) ++ [subtract 5, (* 2)]) (10 :: Int))
  print (viaList (map (+) [1 .. 1000]) (0 :: Int))
  -- Composition towers: a thousand unknown calls deep.
  let tower = foldr (.) id (replicate 100000 (+ 1)) :: Int -> Int
  print (tower 0)
  let curried = foldl (\f n -> \x y -> f (x + n) y) (\x y -> x * y) [1 .. 1000 :: Int]
  print (curried 1 2, map (curried 3) [1, 2, 3])
