-- Sets: Conway's life on an unbounded plane.
-- args: 200
import qualified Data.Map.Strict as M
import qualified Data.Set as S
import System.Environment

type Cell = (Int, Int)

step :: S.Set Cell -> S.Set Cell
step live = M.keysSet (M.filterWithKey rule counts)
  where
    counts = M.fromListWith (+) [ ((x + dx, y + dy), 1 :: Int) | (x, y) <- S.toList live, dx <- [-1, 0, 1], dy <- [-1, 0, 1], (dx, dy) /= (0, 0) ]
    rule c n = n == 3 || (n == 2 && c `S.member` live)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let start = S.fromList ([ (90 * k + x, 7 * k + y) | k <- [0 .. 5], (x, y) <- [(1, 0), (2, 0), (0, 1), (1, 1), (1, 2)] ])
      gens = iterate step start
  print (map S.size (take 5 (drop n gens)))
  print (sum [ x * 3 + y | (x, y) <- S.toList (gens !! n) ])
