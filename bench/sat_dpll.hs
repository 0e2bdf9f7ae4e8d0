-- Symbolic: a DPLL satisfiability solver over pigeonhole and random clauses.
-- args: 7
import Data.List
import qualified Data.IntMap.Strict as IM
import System.Environment

type Clause = [Int]

assign :: Int -> [Clause] -> [Clause]
assign l cs = [ filter (/= negate l) c | c <- cs, l `notElem` c ]

solve :: [Clause] -> [Int] -> (Maybe [Int], Int)
solve cs model
  | null cs = (Just model, 1)
  | any null cs = (Nothing, 1)
  | Just l <- find unit cs = let (r, n) = solve (assign (head l) cs) (head l : model) in (r, n + 1)
  | otherwise =
      let l = pick cs
          (r1, n1) = solve (assign l cs) (l : model)
      in case r1 of
           Just _ -> (r1, n1 + 1)
           Nothing -> let (r2, n2) = solve (assign (negate l) cs) (negate l : model) in (r2, n1 + n2 + 1)
  where unit c = length c == 1

pick :: [Clause] -> Int
pick cs = fst (maximumBy (\a b -> compare (snd a) (snd b)) (IM.toList counts))
  where counts = IM.fromListWith (+) [ (l, 1 :: Int) | c <- cs, l <- c ]

pigeons :: Int -> [Clause]
pigeons n = [ [ v p h | h <- [1 .. n] ] | p <- [0 .. n] ]
         ++ [ [negate (v p h), negate (v q h)] | h <- [1 .. n], p <- [0 .. n], q <- [p + 1 .. n] ]
  where v p h = p * n + h

randoms :: Int -> [Int]
randoms = iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648)

threeSat :: Int -> Int -> Int -> [Clause]
threeSat seed vars m = take m (go (map (`div` 8) (randoms seed)))
  where go (a : b : c : d : rest) = [ if testB d i then lit x else negate (lit x) | (i, x) <- zip [0 ..] [a, b, c] ] : go rest
        go _ = []
        lit x = 1 + x `mod` vars
        testB d i = (d `div` (2 ^ (i :: Int))) `mod` 2 == (0 :: Int)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let (r, steps) = solve (pigeons n) []
  print (fmap length r, steps)
  let results = [ solve (threeSat s 40 165) [] | s <- [1 .. 12] ]
  print (map (fmap length . fst) results, sum (map snd results))
