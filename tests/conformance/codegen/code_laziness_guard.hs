-- where, guards, irrefutable patterns, view of lazy arguments: only what is needed is evaluated.
import Control.Exception
import Debug.Trace
import System.IO

f :: Int -> Int -> Int
f x y | x > 10 = big
      | x > 5, Just z <- look y = z
      | otherwise = small
  where big = trace "big" (x * 2)
        small = trace "small" (x + 1)
        look n = trace "look" (if n > 0 then Just (n * 100) else Nothing)

lazyPair :: (Int, Int) -> Int
lazyPair ~(a, _) = 1

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  print (f 20 undefined)
  print (f 7 3)
  print (f 7 (-3))
  print (f 1 undefined)
  print (lazyPair undefined)
  let xs = map (\n -> trace ("element " ++ show n) (n * 2)) [1 .. 5 :: Int]
  print (xs !! 2 + xs !! 2)
  print (take 2 xs)
  r <- try (evaluate (fst (traceShowId (1 :: Int, undefined :: Int)))) :: IO (Either ErrorCall Int)
  putStrLn (either (const "showed too much") show r)
  traceM "in a monad"
  traceIO "traced"
  print (let (a, b) = (b + 1, 10) in a :: Int)
