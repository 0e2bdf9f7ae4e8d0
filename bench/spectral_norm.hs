-- Numeric: spectral norm of an infinite matrix by lists of doubles.
-- args: 1600
import System.Environment
import Text.Printf

a :: Int -> Int -> Double
a i j = 1 / fromIntegral ((i + j) * (i + j + 1) `div` 2 + i + 1)

mulAv, mulAtv, mulAtAv :: [Double] -> [Double]
mulAv v = [ sum (zipWith (\j x -> a i j * x) [0 ..] v) | i <- [0 .. length v - 1] ]
mulAtv v = [ sum (zipWith (\j x -> a j i * x) [0 ..] v) | i <- [0 .. length v - 1] ]
mulAtAv = mulAtv . mulAv

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let us = iterate mulAtAv (replicate n 1)
      v = us !! 9
      u = mulAtAv v
  printf "%.9f\n" (sqrt (sum (zipWith (*) u v) / sum (map (^ (2 :: Int)) v)))
