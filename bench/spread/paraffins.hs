-- The paraffins of [FN96, §4]: enumerates all alkanes up to a size, unique up to symmetry, size by size. A molecule
-- has a bond between two equal halves in its middle, or a carbon atom with four radicals, each less than half of it. A
-- spark for each way to divide a size. Argument: the most carbon atoms. `paraffins.c` does the same.
-- ghc: -O -threaded
-- needs: parallel array
import Control.Parallel.Strategies
import Data.Array
import Data.List
import System.Environment

-- A group with a free bond.
data Radical = Hydrogen | Carbon Radical Radical Radical

data Paraffin = Halves Radical Radical | Center Radical Radical Radical Radical

-- The radicals of each size.
type Radicals = Array Int [Radical]

radicals :: Int -> Radicals
radicals most = table
  where
    table = listArray (0, most) ([Hydrogen] : map ofSize [1 .. most])
    ofSize n =
      [ Carbon a b c
        | i <- [0 .. (n - 1) `div` 3],
          j <- [i .. (n - 1 - i) `div` 2],
          let k = n - 1 - i - j,
          (a, as) <- choices (table ! i),
          (b, bs) <- choices (if j == i then as else table ! j),
          c <- if k == j then bs else table ! k
      ]

-- Each element, with those that may stand after it: it and what follows.
choices :: [a] -> [(a, [a])]
choices all = [(x, rest) | rest@(x : _) <- tails all]

-- How the radicals at a central atom may divide the others.
divisions :: Int -> [(Int, Int, Int, Int)]
divisions n =
  [ (i, j, k, l)
    | i <- [0 .. (n - 1) `div` 4],
      j <- [i .. (n - 1 - i) `div` 3],
      k <- [max j (n - 1 - i - j - (n - 1) `div` 2) .. (n - 1 - i - j) `div` 2],
      let l = n - 1 - i - j - k
  ]

centered :: Radicals -> (Int, Int, Int, Int) -> [Paraffin]
centered table (i, j, k, l) =
  [ Center a b c d
    | (a, as) <- choices (table ! i),
      (b, bs) <- choices (if j == i then as else table ! j),
      (c, cs) <- choices (if k == j then bs else table ! k),
      d <- if l == k then cs else table ! l
  ]
{-# NOINLINE centered #-}

halves :: Radicals -> Int -> [Paraffin]
halves table n = if odd n then [] else [Halves a b | (a, as) <- choices (table ! (n `div` 2)), b <- as]

-- How many there are, and how many of them have a hydrogen atom at the bond or atom in the middle.
counts :: [Paraffin] -> (Int, Int)
counts = foldl' count (0, 0)
  where
    count (n, h) x = let n' = n + 1; h' = if ends x then h + 1 else h in n' `seq` h' `seq` (n', h')
    ends (Halves a b) = isHydrogen a || isHydrogen b
    ends (Center a _ _ _) = isHydrogen a
    isHydrogen Hydrogen = True
    isHydrogen _ = False

main :: IO ()
main = do
  [most] <- map read <$> getArgs
  let table = radicals (most `div` 2)
      ofSize n = counts (halves table n) : map (counts . centered table) (divisions n)
      all = map ofSize [1 .. most] `using` parList (parList rdeepseq)
      total parts = (sum (map fst parts), sum (map snd parts))
  mapM_ (\(n, (c, h)) -> putStrLn (unwords (map show [n, c, h]))) (zip [1 :: Int ..] (map total all))
