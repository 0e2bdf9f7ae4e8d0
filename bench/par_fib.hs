-- Strategies: a tree of sparks, cut off where the work of one gets small.
-- hecs: 2
-- needs: parallel
-- args: 40 26
import Control.Parallel.Strategies
import System.Environment

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

parFib :: Int -> Int -> Int
parFib cutOff n
  | n <= cutOff = fib n
  | otherwise = runEval $ do
      a <- rpar (parFib cutOff (n - 1))
      b <- rseq (parFib cutOff (n - 2))
      (+ b) <$> rseq a

main :: IO ()
main = do
  [n, cutOff] <- map read <$> getArgs
  print (parFib cutOff n)
