-- Mutual recursion through letrec: several thunks and functions allocated together and pointing at each other.
data Node = Node { name :: String, next :: Node, prev :: Node }

ring :: [String] -> Node
ring ns = first
  where
    (first, lastN) = go lastN ns first
    go p [n] after = let this = Node n after p in (this, this)
    go p (n : rest) after = let this = Node n nxt p; (nxt, l) = go this rest after in (this, l)
    go p [] _ = (p, p)

repMin :: [Int] -> [Int]
repMin xs = r
  where (r, m) = go xs
        go [] = ([], maxBound)
        go (y : ys) = let (zs, k) = go ys in (m : zs, min y k)

main :: IO ()
main = do
  let r = ring ["a", "b", "c", "d"]
  putStrLn (concatMap name (take 10 (iterate next r)))
  putStrLn (concatMap name (take 10 (iterate prev r)))
  print (repMin [5, 3, 8, 2, 9])
  let isEven, isOdd :: Int -> Bool
      isEven 0 = True
      isEven n = isOdd (n - 1)
      isOdd 0 = False
      isOdd n = isEven (n - 1)
  print (isEven 100000, isOdd 100000)
  let a = 1 : map (+ 1) b
      b = 10 : map (* 2) c
      c = 100 : zipWith (+) a b
  print (take 8 a, take 8 b, take 8 c :: [Int])
