-- Search: all solutions to the queens problem by list comprehension, and the knight's moves by breadth-first search.
-- args: 12
import qualified Data.Set as S
import System.Environment

queens :: Int -> [[Int]]
queens n = go n
  where go 0 = [[]]
        go k = [ q : qs | qs <- go (k - 1), q <- [1 .. n], safe q qs ]
        safe q qs = and [ q /= c && abs (q - c) /= d | (d, c) <- zip [1 ..] qs ]

reach :: Int -> [Int]
reach n = go (S.singleton (0, 0)) [(0, 0)]
  where go _ [] = []
        go seen frontier = length frontier : go seen' next
          where next = S.toList (S.fromList [ p | (x, y) <- frontier, (dx, dy) <- moves, let p = (x + dx, y + dy), ok p, p `S.notMember` seen ])
                seen' = foldr S.insert seen next
        ok (x, y) = x >= 0 && y >= 0 && x < n && y < n
        moves = [ (a, b) | a <- [-2, -1, 1, 2], b <- [-2, -1, 1, 2], abs a /= abs b ]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let qs = queens n
  print (length qs, head qs)
  print (sum (zipWith (*) [0 ..] (reach (n * 22))))
