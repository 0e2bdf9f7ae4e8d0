-- Prelude list functions over finite and infinite lists.
import Data.List

main :: IO ()
main = do
  print (take 10 (iterate (* 2) 1) :: [Int])
  print (sort [5, 3, 9, 1, 4 :: Int], sortOn negate [1 .. 5 :: Int], nub [1, 1, 2, 3, 2 :: Int])
  print (group (sort "mississippi"), partition even [1 .. 10 :: Int])
  print (words " a  b c ", lines "x\ny\n\nz", unwords ["p", "q"], unlines ["r", "s"])
  print (foldl' (flip (:)) [] [1 .. 5 :: Int], scanl (+) 0 [1 .. 5 :: Int], scanr1 max [3, 1, 2 :: Int])
  print (zip3 [1 :: Int ..] "abc" [True, False, True], unzip [(1 :: Int, 'a'), (2, 'b')])
  print (isPrefixOf "ab" "abc", isInfixOf "bc" "abcd", stripPrefix "a" "abc", span even [2, 4, 5, 6 :: Int])
  print (transpose ["abc", "de", "f"], subsequences [1, 2, 3 :: Int], permutations [1, 2, 3 :: Int])
  print (takeWhile (< 40) (filter odd (map (^ (2 :: Int)) [1 ..])) :: [Int])
  print (let xs = 1 : map (* 3) xs in xs !! 20 :: Integer)
