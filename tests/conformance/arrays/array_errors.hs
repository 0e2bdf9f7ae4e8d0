-- Error texts of out-of-range indexing, in immutable and mutable arrays and in lists.
import Control.Exception
import Data.Array
import Data.Array.IO
import qualified Data.Map as M

t :: Show a => a -> IO ()
t x = do
  r <- try (evaluate x)
  putStrLn (either (\e -> "error: " ++ takeWhile (/= '\n') (show (e :: SomeException))) show r)

main :: IO ()
main = do
  let a = listArray (0, 4) [1 ..] :: Array Int Int
      c = listArray ((0, 'a'), (1, 'c')) [1 ..] :: Array (Int, Char) Int
  t (a ! 5)
  t (a ! (-1))
  t (c ! (0, 'd'))
  t (listArray (0, 2) [1 :: Int, 2] ! 2 :: Int)
  m <- newArray (1, 3) 0 :: IO (IOUArray Int Int)
  r <- try (readArray m 4)
  putStrLn (either (\e -> "error: " ++ takeWhile (/= '\n') (show (e :: SomeException))) show r)
  t ([1, 2, 3 :: Int] !! 3)
  t ([1 :: Int] !! (-1))
  t (head ([] :: [Int]))
  t (maximum ([] :: [Int]))
  t (foldr1 (+) ([] :: [Int]))
  t (M.fromList [(1 :: Int, 'a')] M.! 2)
  t (toEnum 5 :: Bool)
  t (read "x" :: Int)
  t (succ (maxBound :: Int))
