-- Sparks that are needed in the order in which they are made, so that the needing thread and those that run ahead
-- meet again and again; all are evaluated, by either.
-- ghc: -O -threaded -with-rtsopts=-N4
-- timeout: 180
import Control.Exception
import Control.Monad
import GHC.Conc

work :: Int -> Int
work n = length (filter (\d -> n `mod` d == 0) [1 .. 200 + n `mod` 50])

-- Keeps the given number of sparks ahead of the one that is needed.
rolling :: Int -> [a] -> [a]
rolling n xs = go xs (sparks (take n xs) `pseq` drop n xs)
  where
    sparks = foldr par ()
    go (y : ys) (z : zs) = z `par` (y : go ys zs)
    go ys _ = ys

main :: IO ()
main = do
  forM_ [1, 10, 100] $ \n -> print (sum (rolling n (map work [1 .. 20000])))
  -- Some of them fail; the thread that needs them gets the exception in its turn.
  let risky i = if i `mod` 1000 == 0 then throw (ErrorCall (show i)) else work i
  rs <- forM (rolling 50 (map risky [1 .. 5000])) $ \r -> try (evaluate r)
  print (sum [r | Right r <- rs])
  print [e | Left (ErrorCall e) <- rs]
