-- Pairs that each hold selections from the one before, all of them held: to do all selections takes one walk,
-- wherever it begins. And selections that come back to themselves, which have no value.
-- ghc: -O -rtsopts
-- timeout: 180
import Control.Exception
import System.Mem

next :: (Int, Int) -> (Int, Int)
next p = (fst p, snd p)
{-# NOINLINE next #-}

swapped :: (Int, Int) -> (Int, Int)
swapped p = (snd p, fst p)
{-# NOINLINE swapped #-}

chain :: ((Int, Int) -> (Int, Int)) -> Int -> [(Int, Int)]
chain f n = go n (1, 2) []
  where
    go 0 _ held = held
    go k p held = let q = f p in q `seq` go (k - 1 :: Int) q (q : held)

loops :: Int -> IO ()
loops x = do
  r <- try (evaluate x)
  print (r :: Either NonTermination Int)

main :: IO ()
main = do
  let a = chain next 200000
      b = chain swapped 200001
  _ <- evaluate (length a + length b)
  performMinorGC
  performGC
  print (sum (map fst a), sum (map snd (reverse b)))
  let p = next p
      q = swapped r
      r = swapped q
  mapM_ evaluate [p, q, r]
  performMinorGC
  performGC
  loops (fst p)
  loops (fst q)
  loops (snd r)
