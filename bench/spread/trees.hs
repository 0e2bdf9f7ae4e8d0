-- The trees of [FN96, §4]: builds a balanced tree, copies it several times, and counts the leaves. Arguments: the
-- depth; how many copies; down to which depth subtrees are sparked.
-- ghc: -O -threaded
-- needs: parallel
import Control.Parallel
import System.Environment

data Tree = Leaf !Int | Node Tree Tree

node :: Int -> Tree -> Tree -> Tree
node sparks l r
  | sparks > 0 = r `par` (l `pseq` (r `pseq` Node l r))
  | otherwise = l `seq` r `seq` Node l r
{-# INLINE node #-}

build :: Int -> Int -> Int -> Tree
build _ 0 at = Leaf at
build sparks depth at = node sparks (below (2 * at)) (below (2 * at + 1))
  where
    below = build (sparks - 1) (depth - 1)

copy :: Int -> Tree -> Tree
copy _ (Leaf at) = Leaf at
copy sparks (Node l r) = node sparks (copy (sparks - 1) l) (copy (sparks - 1) r)

leaves :: Int -> Tree -> Int
leaves _ (Leaf _) = 1
leaves sparks (Node l r)
  | sparks > 0 = b `par` (a `pseq` (a + b))
  | otherwise = a + b
  where
    a = leaves (sparks - 1) l
    b = leaves (sparks - 1) r

main :: IO ()
main = do
  [depth, copies, sparks] <- map read <$> getArgs
  print (leaves sparks (iterate (copy sparks) (build sparks depth 1) !! copies))
