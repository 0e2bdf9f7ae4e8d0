-- Recursion a million frames deep through several kinds of frame: case continuations, updates, catches.
-- skip-stress: every collection checks a stack of a million frames, and there is one at every block of it
import Control.Exception
import qualified Data.Map as M

count :: Int -> Int
count 0 = 0
count n = 1 + count (n - 1)
{-# NOINLINE count #-}

lazySum :: [Int] -> Int
lazySum = foldr (+) 0

catches' :: Int -> IO Int
catches' 0 = return 0
catches' n = fmap (+ 1) (catches' (n - 1) `catch` \e -> throwIO (e :: ArithException))

main :: IO ()
main = do
  print (count 1000000)
  print (lazySum [1 .. 1000000])
  print (foldl (+) 0 [1 .. 1000000 :: Integer])
  let m = foldr (\k -> M.insertWith (\_ old -> old + 1) (k `mod` 7) 0) M.empty [1 .. 500000 :: Int]
  print (M.toList (m :: M.Map Int Int))
  n <- catches' 100000
  print n
  xs <- mapM return [1 .. 300000 :: Int]
  print (sum xs)
  r <- try (evaluate (foldr (\x acc -> if x == 500000 then throw Overflow else x + acc) 0 [1 .. 500000 :: Int]))
  print (r :: Either ArithException Int)
