-- par and pseq: sparks may run or not, values are the same, and exceptions in sparks stay where they are demanded.
import Control.Exception
import GHC.Conc

fib :: Int -> Integer
fib n | n < 2 = fromIntegral n
      | otherwise = let a = fib (n - 1); b = fib (n - 2) in a `par` (b `pseq` (a + b))

main :: IO ()
main = do
  print (fib 20)
  let bad = error "in a spark" :: Int
      good = sum [1 .. 1000 :: Int]
  print (bad `par` good `pseq` good)
  r <- try (evaluate bad)
  putStrLn (either (\(ErrorCall m) -> m) show r)
  n <- numSparks
  print (n >= 0)
