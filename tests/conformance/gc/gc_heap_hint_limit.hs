-- A heap limit that is no larger than the heap size suggested is room enough for what a deep stack and lists need.
-- args: +RTS -H64m -M64m -RTS
import Data.List (foldl')

main :: IO ()
main = do
  print (foldr (+) 0 [1 .. 150000 :: Integer])
  let xs = [1 .. 300000] :: [Int]
  print (foldl' (+) 0 xs, length xs)
