-- Chains of selectors over selectors, cyclic selections and selections from thunks that raise.
import Control.Exception
import System.Mem

data T = T { sa :: Int, sb :: T, sc :: [Int] }

{-# NOINLINE lazyT #-}
lazyT :: Int -> T
lazyT n = T n (lazyT (n + 1)) [n ..]

main :: IO ()
main = do
  let t0 = lazyT 0
      ts = iterate sb t0
      picks = map sa (take 2000 ts)
      lists = map (head . tail . sc) (take 2000 ts)
  performGC
  print (sum picks)
  performGC
  print (sum lists)
  -- A long chain of pairs where each selects from the one before.
  let step (a, b) = (b, a + b)
      ps = iterate step (0, 1 :: Integer)
      firsts = map fst ps
  performGC
  print (firsts !! 500)
  -- A selection out of a value that depends on the selection, lazily.
  let p = (1 : fst p, 2 : snd p) :: ([Int], [Int])
  performGC
  print (take 3 (fst p), take 3 (snd p))
  let bad = error "no pair" :: (Int, Int)
      x = fst bad
      y = snd bad
  performGC
  r <- try (evaluate (x + y)) :: IO (Either ErrorCall Int)
  print (either (const "raised") show r)
  let deep = foldr (\n acc -> let (a, b) = acc in (a + n, b ++ [])) (0, "end") [1 .. 20000 :: Int]
  performGC
  print (fst deep)
  putStrLn (snd deep)
