-- Unevaluated selections from evaluated pairs must not keep the other component alive: the space leak that collectors
-- cure.
-- ghc: -O0 -threaded
-- args: +RTS -M30m -RTS
import Control.Exception
import Control.Monad

data Box a = Box a

data R = R { big :: [Int], small :: Int, other :: [Int] }

{-# NOINLINE second #-}
second :: (a, b) -> Box b
second p = Box (let (_, k) = p in k)

{-# NOINLINE middle #-}
middle :: R -> Box Int
middle r = Box (case r of R _ s _ -> s)

main :: IO ()
main = do
  boxes <- forM [1 .. 150] $ \n -> do
    let xs = [n .. n + 8000] :: [Int]
    _ <- evaluate (length xs)
    p <- evaluate (xs, n)
    return $! second p
  print (sum [ k | Box k <- boxes ])
  recs <- forM [1 .. 150] $ \n -> do
    let xs = [n .. n + 8000] :: [Int]
    _ <- evaluate (sum xs)
    r <- evaluate (R xs n (reverse xs))
    _ <- evaluate (length (other r))
    return $! middle r
  print (sum [ k | Box k <- recs ])
  -- Selections nested two deep.
  nest <- forM [1 .. 150] $ \n -> do
    let xs = [n .. n + 8000] :: [Int]
    _ <- evaluate (length xs)
    q <- evaluate (n * 2, xs)
    p <- evaluate (xs, q)
    case second p of Box inner -> return $! Box (let (k, _) = inner in k)
  print (sum [ k | Box k <- nest ])
