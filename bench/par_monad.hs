-- monad-par: a pipeline of stages connected by a stream of IVars, then a fork and join tree.
-- hecs: 2
-- needs: monad-par
-- args: 3000 19
import Control.DeepSeq
import Control.Monad.Par
import qualified Data.IntMap.Strict as M
import System.Environment

data Stream a = End | Cons a (IVar (Stream a))

instance NFData a => NFData (Stream a) where
  rnf End = ()
  rnf (Cons a rest) = rnf a `seq` rnf rest

produce :: NFData a => [a] -> Par (IVar (Stream a))
produce items = do
  first <- new
  fork (go items first)
  return first
  where
    go [] at = put at End
    go (x : xs) at = do
      rest <- new
      put at (Cons x rest)
      go xs rest

stage :: NFData b => (a -> b) -> IVar (Stream a) -> Par (IVar (Stream b))
stage f from = do
  first <- new
  fork (go from first)
  return first
  where
    go source at = get source >>= \s -> case s of
      End -> put at End
      Cons a source' -> do
        rest <- new
        put at (Cons (f a) rest)
        go source' rest

consume :: (b -> a -> b) -> b -> IVar (Stream a) -> Par b
consume f acc from = get from >>= \s -> case s of
  End -> return acc
  Cons a rest -> let acc' = f acc a in acc' `seq` consume f acc' rest

histogram :: Int -> M.IntMap Int
histogram n = M.fromListWith (+) [((n * i + i * i) `mod` 257, 1) | i <- [1 .. 1200]]

weight :: M.IntMap Int -> Int
weight m = sum [k * v * (foldr (\j a -> (a + j * k) `mod` 1009) 0 [1 .. 80]) | (k, v) <- M.toList m]

tree :: Int -> Int -> Par Int
tree 0 n = return (length (filter even [n .. n + 60]))
tree depth n
  | depth > 9 = do
      a <- spawn (tree (depth - 1) n)
      b <- tree (depth - 1) (n + 1)
      (+ b) <$> get a
  | otherwise = (+) <$> tree (depth - 1) n <*> tree (depth - 1) (n + 1)

main :: IO ()
main = do
  [n, depth] <- map read <$> getArgs
  print (runPar (produce [1 .. n] >>= stage histogram >>= stage weight >>= consume (\a b -> (a + b) `mod` 1000003) 0))
  print (runPar (tree depth 1))
