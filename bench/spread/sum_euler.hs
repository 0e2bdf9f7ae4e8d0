-- Sums Euler's totient, by its definition: a spark for each chunk of numbers. Arguments: the last number; the size of a
-- chunk.
-- ghc: -O -threaded
-- needs: parallel
import Control.Parallel.Strategies
import System.Environment

euler :: Int -> Int
euler k = length (filter (\j -> gcd k j == 1) [1 .. k])

chunks :: Int -> [a] -> [[a]]
chunks _ [] = []
chunks size xs = let (chunk, rest) = splitAt size xs in chunk : chunks size rest

main :: IO ()
main = do
  [n, size] <- map read <$> getArgs
  print (sum (map (sum . map euler) (chunks size [1 .. n]) `using` parList rseq))
