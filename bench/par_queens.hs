-- Strategies: the solutions of the queens problem with the first queen in the left half, a spark for each way to place
-- the first two.
-- hecs: 2
-- needs: parallel
-- args: 13
import Control.Parallel.Strategies
import System.Environment

safe :: Int -> [Int] -> Bool
safe q placed = and [q /= c && abs (q - c) /= d | (d, c) <- zip [1 ..] placed]

extend :: Int -> [Int] -> [[Int]]
extend n placed = [q : placed | q <- [1 .. n], safe q placed]

solve :: Int -> [Int] -> [[Int]]
solve n placed
  | length placed == n = [placed]
  | otherwise = concatMap (solve n) (extend n placed)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let starts = [[q] | q <- [1 .. n `div` 2]] >>= extend n
      solutions = map (solve n) starts `using` parList rdeepseq
  print (length (concat solutions), sum (map head (concat solutions)))
