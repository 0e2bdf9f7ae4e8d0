-- Strings and maps: printing, parsing and transforming nested documents.
-- args: 6000
import Data.Char
import Data.List
import qualified Data.Map as M
import System.Environment

data J = Null | B Bool | N Int | S String | A [J] | O (M.Map String J) deriving (Eq, Ord)

render :: J -> ShowS
render j = case j of
  Null -> showString "null"
  B b -> showString (if b then "true" else "false")
  N n -> shows n
  S s -> shows s
  A xs -> showChar '[' . commas (map render xs) . showChar ']'
  O m -> showChar '{' . commas [ shows k . showChar ':' . render v | (k, v) <- M.toList m ] . showChar '}'
  where commas = foldr (.) id . intersperse (showChar ',')

parse :: String -> (J, String)
parse s = case dropWhile isSpace s of
  'n' : r -> (Null, drop 3 r)
  't' : r -> (B True, drop 3 r)
  'f' : r -> (B False, drop 4 r)
  '"' : r -> let (a, b) = str r in (S a, b)
  '[' : r -> let (xs, q) = items r in (A xs, q)
  '{' : r -> let (xs, q) = fields r in (O (M.fromList xs), q)
  r -> let (d, q) = span (\c -> isDigit c || c == '-') r in (N (read d), q)
  where
    str r = let (a, b) = break (== '"') r in (a, drop 1 b)
    items (']' : r) = ([], r)
    items r = let (x, q) = parse r in case q of
      ',' : q' -> let (xs, z) = items q' in (x : xs, z)
      _ -> ([x], drop 1 q)
    fields ('}' : r) = ([], r)
    fields r = let (k, q) = str (drop 1 r); (v, z) = parse (drop 1 q) in case z of
      ',' : z' -> let (xs, y) = fields z' in ((k, v) : xs, y)
      _ -> ([(k, v)], drop 1 z)

mapN :: (Int -> Int) -> J -> J
mapN f j = case j of { N n -> N (f n); A xs -> A (map (mapN f) xs); O m -> O (M.map (mapN f) m); _ -> j }

total :: J -> Int
total j = case j of { N n -> n; A xs -> sum (map total xs); O m -> sum (M.elems (M.map total m)); S s -> length s; _ -> 1 }

doc :: Int -> J
doc k = O (M.fromList [("id", N k), ("name", S ("item" ++ show k)), ("tags", A [ S (show (k * i)) | i <- [1 .. 6] ]), ("ok", B (even k)), ("sub", A [ O (M.fromList [("v", N (i - k)), ("w", Null)]) | i <- [1 .. 8] ])])

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let d = A (map doc [1 .. n])
      text = render d ""
      (back, rest) = parse text
      again = render (mapN (* 3) back) ""
  print (length text, rest, back == d)
  print (length again, total (fst (parse again)))
