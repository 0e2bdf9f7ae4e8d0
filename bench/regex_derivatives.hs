-- Symbolic: matching by regular-expression derivatives with simplification.
-- args: 60000
import System.Environment
import Data.List (foldl')

data R = Nil | Eps | C Char | Alt R R | Cat R R | Star R | And R R deriving (Eq, Ord)

nullable :: R -> Bool
nullable r = case r of
  Nil -> False
  Eps -> True
  C _ -> False
  Alt a b -> nullable a || nullable b
  Cat a b -> nullable a && nullable b
  Star _ -> True
  And a b -> nullable a && nullable b

alt, cat, conj :: R -> R -> R
alt Nil r = r
alt r Nil = r
alt a b | a == b = a
        | a > b = Alt b a
        | otherwise = Alt a b
cat Nil _ = Nil
cat _ Nil = Nil
cat Eps r = r
cat r Eps = r
cat a b = Cat a b
conj Nil _ = Nil
conj _ Nil = Nil
conj a b | a == b = a
         | otherwise = And a b

deriv :: Char -> R -> R
deriv c r = case r of
  Nil -> Nil
  Eps -> Nil
  C d -> if c == d then Eps else Nil
  Alt a b -> alt (deriv c a) (deriv c b)
  Cat a b | nullable a -> alt (cat (deriv c a) b) (deriv c b)
          | otherwise -> cat (deriv c a) b
  Star a -> cat (deriv c a) r
  And a b -> conj (deriv c a) (deriv c b)

str :: String -> R
str = foldr (cat . C) Eps

size :: R -> Int
size r = case r of
  Alt a b -> 1 + size a + size b
  Cat a b -> 1 + size a + size b
  And a b -> 1 + size a + size b
  Star a -> 1 + size a
  _ -> 1

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let anyC = foldr (alt . C) Nil "abcd"
      has s = cat (Star anyC) (cat (str s) (Star anyC))
      r = conj (conj (has "abca") (has "ddba")) (Star (alt (str "ab") (alt (str "cd") (alt anyC (str "dcba")))))
      input = take n (map ("abcd" !!) (map (`mod` 4) (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648 `div` 3) 7)))
      run = foldl' (flip deriv) r
      results = [ (nullable d, size d) | k <- [0 .. 19], let d = run (drop k input) ]
  print (length (filter fst results), sum (map snd results))
