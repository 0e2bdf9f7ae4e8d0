-- Strategies: parMap over a list of many small, uneven pieces of work, and a rolling buffer of sparks over another.
-- hecs: 2
-- needs: parallel
-- args: 100000
import Control.Parallel.Strategies
import Data.List (foldl')
import qualified Data.IntSet as S
import System.Environment

collatz :: Int -> Int
collatz = go 0
  where
    go :: Int -> Int -> Int
    go k 1 = k
    go k n = go (k + 1) (if even n then n `div` 2 else 3 * n + 1)

visited :: Int -> Int
visited n = S.size (S.fromList (take 60 (iterate (\x -> (x * x + 1) `mod` 10007) n)))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  print (foldl' max 0 (parMap rseq collatz [1 .. n * 3]))
  print (foldl' (+) 0 (map visited [1 .. n] `using` parBuffer 100 rseq))
