-- Laziness: power series as streams, primes as an infinite list, knot-tied tables.
-- args: 500
import Data.Array
import Data.Ratio
import System.Environment

type S = [Rational]

mul :: S -> S -> S
mul (a : as) b@(b0 : bs) = a * b0 : zipWith (+) (map (a *) bs) (mul as b)
mul _ _ = []

integrate :: Rational -> S -> S
integrate c s = c : zipWith (/) s (map fromIntegral [1 :: Integer ..])

sinS, cosS :: S
sinS = integrate 0 cosS
cosS = integrate 1 (map negate sinS)

primes :: [Int]
primes = 2 : go [3, 5 ..]
  where go (x : xs) | all (\p -> x `mod` p /= 0) (takeWhile (\p -> p * p <= x) primes) = x : go xs
                    | otherwise = go xs
        go [] = []

edit :: String -> String -> Int
edit a b = t ! (0, 0)
  where
    n = length a
    m = length b
    aa = listArray (0, n - 1) a
    ba = listArray (0, m - 1) b
    t = array ((0, 0), (n, m)) [ ((i, j), f i j) | i <- [0 .. n], j <- [0 .. m] ]
    f i j | i == n = m - j
          | j == m = n - i
          | aa ! i == ba ! j = t ! (i + 1, j + 1)
          | otherwise = 1 + minimum [t ! (i + 1, j), t ! (i, j + 1), t ! (i + 1, j + 1)]

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let one = zipWith (+) (mul sinS sinS) (mul cosS cosS)
      tanish = mul sinS (map abs cosS)
  print (all (== 0) (take (n `div` 4) (tail one)), denominator (tanish !! (n `div` 3)) `mod` 1000003)
  print (sum (take (n * 150) primes))
  let text k = take (n * 2) (map (\i -> toEnum (97 + (i * i + k * i) `mod` 11)) [1 ..])
  print (edit (text 1) (text 4))
