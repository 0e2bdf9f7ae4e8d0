-- Thunks that demand themselves, directly and through others: NonTermination, caught.
-- args: +RTS -I0.02 -RTS
import Control.Exception
import Data.Array

try' :: String -> a -> IO ()
try' s x = do
  r <- try (evaluate x)
  case r of
    Left NonTermination -> putStrLn (s ++ ": loop")
    Right _ -> putStrLn (s ++ ": value")

main :: IO ()
main = do
  let x = x + 1 :: Int
  try' "direct" x
  let a = b + 1 :: Int
      b = c * 2
      c = a - 1
  try' "three thunks" a
  let arr = listArray (0, 3) [arr ! 1, arr ! 2, arr ! 3, arr ! 0] :: Array Int Int
  try' "array" (arr ! 0)
  let xs = 1 : map (+ 1) (tail ys)
      ys = tail xs :: [Int]
  try' "list" (xs !! 2)
  let ok = 1 : ok :: [Int]
  try' "productive" (ok !! 1000)
