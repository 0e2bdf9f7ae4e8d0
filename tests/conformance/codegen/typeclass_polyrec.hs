-- Dictionaries built at run time: polymorphic recursion, superclasses, default methods, higher-rank arguments.
{-# LANGUAGE ExistentialQuantification, RankNTypes #-}
data Nested a = Flat a | Nest (Nested (a, a))

size :: Nested a -> Int
size = go (const 1)
  where
    go :: (forall b. (b -> Int) -> Nested b -> Int)
    go f (Flat a) = f a
    go f (Nest n) = go (\(x, y) -> f x + f y) n

showN :: Show a => Nested a -> String
showN (Flat a) = show a
showN (Nest n) = showN n

class Show a => Shape a where
  area :: a -> Double
  label :: a -> String
  label x = "<" ++ show x ++ " of " ++ show (area x) ++ ">"

data Sq = Sq Double deriving Show
data Ci = Ci Double deriving Show
instance Shape Sq where area (Sq s) = s * s
instance Shape Ci where { area (Ci r) = 3 * r * r; label _ = "circle" }

data AnyShape = forall s. Shape s => AnyShape s

build :: Int -> a -> Nested a
build 0 a = Flat a
build n a = Nest (build (n - 1) (a, a))

main :: IO ()
main = do
  print (size (build 12 'x'))
  putStrLn (showN (build 3 True))
  mapM_ (\(AnyShape s) -> putStrLn (label s)) [AnyShape (Sq 2), AnyShape (Ci 1)]
  print (minimum (map (\(AnyShape s) -> area s) [AnyShape (Sq 2), AnyShape (Ci 1)]))
