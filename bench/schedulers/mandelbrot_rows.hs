-- How many points of a grid are in the Mandelbrot set: a thread for each row. Argument: the length of a row.
-- ghc: -O
-- needs: hecaton
import System.Environment
import Threads

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  rows <- withThreads $ \fork -> forkAll fork [return (inRow n y) | y <- [0 .. n - 1]]
  print (sum rows, maximum rows)

inRow :: Int -> Int -> Int
inRow n y = length (filter (\x -> stays (coordinate x - 0.5) (coordinate y)) [0 .. n - 1])
  where
    coordinate i = 2 * fromIntegral i / fromIntegral n - 1

stays :: Double -> Double -> Bool
stays cr ci = go 0 0 (50 :: Int)
  where
    go x y left = x * x + y * y <= 4 && (left == 0 || go (x * x - y * y + cr) (2 * x * y + ci) (left - 1))
