-- A live list of a million cells and a left-nested tree of the same depth: the collector must not recurse on them.
-- skip-stress: a million live objects, checked at every block
{-# LANGUAGE BangPatterns #-}
import System.Mem

data T = L | T :< Int
infixl 5 :<

depth :: T -> Int
depth = go 0 where
  go !n L = n
  go n (t :< _) = go (n + 1) t

main :: IO ()
main = do
  let xs = [1 .. 1000000] :: [Int]
  print (sum xs)
  performMajorGC
  print (length xs, last xs)
  let t = foldl (:<) L xs
  print (depth t)
  performMajorGC
  print (depth t)
  -- Unevaluated towers too: each thunk refers to the one before.
  let thunks = scanl (\a b -> a + b) 0 (take 300000 xs)
      final = last thunks
  performMajorGC
  print final
