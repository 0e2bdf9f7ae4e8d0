-- Symbolic: differentiation and simplification of growing expressions.
-- args: 10
import System.Environment

data E = K Integer | X | E :+: E | E :*: E | Sin E | Cos E | Pow E Integer deriving (Eq, Ord)

d :: E -> E
d e = case e of
  K _ -> K 0
  X -> K 1
  a :+: b -> d a :+: d b
  a :*: b -> (d a :*: b) :+: (a :*: d b)
  Sin a -> Cos a :*: d a
  Cos a -> K (-1) :*: (Sin a :*: d a)
  Pow a n -> K n :*: (Pow a (n - 1) :*: d a)

simp :: E -> E
simp e = case e of
  a :+: b -> plus (simp a) (simp b)
  a :*: b -> times (simp a) (simp b)
  Sin a -> Sin (simp a)
  Cos a -> Cos (simp a)
  Pow a 0 -> const (K 1) a
  Pow a 1 -> simp a
  Pow a n -> Pow (simp a) n
  _ -> e

plus, times :: E -> E -> E
plus (K a) (K b) = K (a + b)
plus (K 0) e = e
plus e (K 0) = e
plus a b | a == b = K 2 `times` a
         | a > b = b :+: a
         | otherwise = a :+: b
times (K a) (K b) = K (a * b)
times (K 0) _ = K 0
times _ (K 0) = K 0
times (K 1) e = e
times e (K 1) = e
times (K a) (K b :*: e) = times (K (a * b)) e
times a b | a > b = b :*: a
          | otherwise = a :*: b

size :: E -> Int
size e = case e of
  a :+: b -> 1 + size a + size b
  a :*: b -> 1 + size a + size b
  Sin a -> 1 + size a
  Cos a -> 1 + size a
  Pow a _ -> 1 + size a
  _ -> 1

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let f = Sin (Pow X 3 :+: (K 2 :*: X)) :*: Pow (Cos X :+: X) 4
      ds = iterate (simp . d) f
  print (map size (take n ds))
