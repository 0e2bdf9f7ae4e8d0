-- Strategies: products of matrices of lists, the rows in chunks.
-- hecs: 2
-- needs: parallel
-- args: 260 4
import Control.Parallel.Strategies
import Data.List (foldl', transpose)
import System.Environment

type Matrix = [[Int]]

multiply :: Matrix -> Matrix -> Matrix
multiply a b = map row a `using` parListChunk 10 rdeepseq
  where
    columns = transpose b
    row r = map (dot r) columns
    dot xs ys = foldl' (\acc (x, y) -> (acc + x * y) `mod` 1000003) 0 (zip xs ys)

main :: IO ()
main = do
  [n, times] <- map read <$> getArgs
  let a = [[(i * 7 + j * 13) `mod` 101 | j <- [1 .. n]] | i <- [1 .. n]]
      b = [[(i * 3 + j * 5) `mod` 97 | j <- [1 .. n]] | i <- [1 .. n]]
      c = iterate (`multiply` b) a !! times
  print (foldl' (\acc r -> (acc + sum r) `mod` 1000003) 0 c)
