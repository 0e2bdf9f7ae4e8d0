-- Static constructors without pointers are not copied into a region, those with pointers are; a region of a tree whose
-- leaves are nullary has room for its nodes only.
import GHC.Compact
import System.Mem

data Colour = Red | Green deriving Show
data Wide = Wide !Double {-# UNPACK #-} !Int {-# UNPACK #-} !Int {-# UNPACK #-} !Int
data Pair = Pair Int Int
data Tree = Leaf | Node Tree Tree

pair :: Pair
pair = Pair 1 2
{-# NOINLINE pair #-}

wide :: Wide
wide = Wide 1.5 2 3 4
{-# NOINLINE wide #-}

copied :: String -> a -> IO ()
copied what x = do
  c <- compact x
  d <- compactWithSharing x
  a <- inCompact c (getCompact c)
  b <- inCompact d (getCompact d)
  print (what, a, b)
{-# NOINLINE copied #-}

full :: Int -> Tree
full 0 = Leaf
full n = Node (full (n - 1)) (full (n - 1))

size :: Tree -> Int
size Leaf = 0
size (Node l r) = 1 + size l + size r

main :: IO ()
main = do
  copied "unit" ()
  copied "colour" Green
  copied "nil" ([] :: [Int])
  copied "nothing" (Nothing :: Maybe Int)
  copied "int" (5 :: Int)
  copied "large int" (5000 :: Int)
  copied "char" 'x'
  copied "double" (2.5 :: Double)
  copied "fields without pointers" wide
  copied "pair" pair
  copied "list" "abc"
  c <- compact (full 15)
  performMajorGC
  n <- compactSize c
  print (size (getCompact c), n < 32768 * 8 * 4)
