-- Big integers: digits of pi by a spigot, factorials, and conversion to decimal.
-- args: 4500
import System.Environment

piDigits :: [Integer]
piDigits = go 1 0 1 1 3 3
  where
    go q r t k n l
      | 4 * q + r - t < n * t = n : go (q * 10) (10 * (r - n * t)) t k (10 * (3 * q + r) `div` t - 10 * n) l
      | otherwise = go (q * k) ((2 * q + r) * l) (t * l) (k + 1) ((q * (7 * k + 2) + r * l) `div` (t * l)) (l + 2)

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let ds = take n piDigits
  print (sum ds, last ds)
  let f = product [1 .. fromIntegral n * 4 :: Integer]
      s = show f
  print (length s, sum (map fromEnum s))
  print (length (show (3 ^ (n * 200) `div` (2 ^ (n * 100) + 1 :: Integer))))
