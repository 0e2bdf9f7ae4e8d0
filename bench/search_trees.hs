-- Laziness: backtracking searches over trees of partial solutions that are built, labelled and pruned lazily.
-- aim: elapsed 1.0
-- args: 20 12 25 1000 20
import Data.List
import qualified Data.Set as S
import System.Environment

data Tree a = Node a [Tree a]

label :: Tree a -> a
label (Node a _) = a

mapTree :: (a -> b) -> Tree a -> Tree b
mapTree f (Node a ts) = Node (f a) (map (mapTree f) ts)

grow :: (a -> [a]) -> a -> Tree a
grow f a = Node a (map (grow f) (f a))

prune :: (a -> Bool) -> Tree a -> Tree a
prune p (Node a ts) = Node a (map (prune p) (filter (not . p . label) ts))

-- A problem: numbers of variables and values, and whether two assignments agree.
data Problem = Problem { vars :: Int, values :: Int, agree :: (Int, Int) -> (Int, Int) -> Bool }

-- Partial solutions, the newest assignment first.
type State = [(Int, Int)]

tree :: Problem -> Tree State
tree p = grow next []
  where next s | length s == vars p = []
               | otherwise = [ (length s + 1, v) : s | v <- [1 .. values p] ]

-- The variables that make a state impossible; none if it is not known to be.
type Blame = [Int]

-- For each variable to come and each of its values, the variable that forbids it.
type Table = [[Blame]]

tables :: Problem -> Tree State -> Tree (State, Table)
tables p = go (replicate (vars p) (replicate (values p) []))
  where
    go table (Node s ts) = Node (s, table) (zipWith (go . after) ts ts)
      where after (Node s' _) = zipWith (fill (head s')) [1 ..] table
    fill (j, w) i
      | i == j = zipWith (\v blame -> if v == w then blame else [j]) [1 ..]
      | i < j = id
      | otherwise = zipWith (\v blame -> if null blame && not (agree p (j, w) (i, v)) then [j] else blame) [1 ..]

-- A state is blamed if its newest assignment is forbidden, or a variable to come has no value left.
forward :: Tree (State, Table) -> Tree (State, Blame)
forward = mapTree f
  where
    f ([], _) = ([], [])
    f (s@((j, w) : _), table)
      | null own = (s, concat (take 1 [ foldr union [] row | row <- drop j table, not (any null row) ]))
      | otherwise = (s, j : own)
      where own = table !! (j - 1) !! (w - 1)

visited :: Tree a -> [a]
visited (Node a ts) = a : concatMap visited ts

-- A random problem: a given number of a hundred pairs of assignments exclude each other.
randomly :: Int -> Int -> Int -> Int -> Problem
randomly n d tight seed = Problem n d (\p q -> code (min p q) (max p q) `S.notMember` excluded)
  where
    code (i, a) (j, b) = (((i - 1) * d + a - 1) * n + j - 1) * d + b - 1
    excluded = S.fromDistinctAscList [ c | c <- [0 .. n * n * d * d - 1], draw c < tight ]
    draw c = fromInteger (step (toInteger (c * 1000 + seed)) 1 `div` 65536 `mod` 100)
    step x k = (x * 6364136223846793005 + k) `mod` (2 ^ (62 :: Int))

-- Solutions among the first k states, and how far one of them has come.
summary :: Int -> [(State, Blame)] -> (Int, Int)
summary n = foldl' next (0, 0)
  where
    next (found, far) (s, blame) = found' `seq` far' `seq` (found', far')
      where found' = if length s == n && null blame then found + 1 else found
            far' = max far (length s)

main :: IO ()
main = do
  [n, d, tight, k, times] <- map read <$> getArgs
  print
    [ summary n (take k (visited (prune (not . null . snd) (forward (tables p (tree p))))))
    | seed <- [1 .. times], let p = randomly n d tight seed ]
