-- HLint reads a generated module and looks for what could be written better.
-- needs: hlint
-- args: 60
-- timeout: 120
import Language.Haskell.HLint
import System.Environment

source :: Int -> String
source n = unlines ("module Generated where" : concatMap item [1 .. n])

item :: Int -> [String]
item i =
  [ "f" ++ v ++ " xs = map (\\x -> x + " ++ v ++ ") (filter (\\y -> not (y == 0)) xs)"
  , "g" ++ v ++ " xs ys = concat (map (\\x -> if null xs == True then [x] else ys ++ [x]) xs)"
  , "h" ++ v ++ " m = do { r <- m; return (case r of { Just a -> Just (a + 1); Nothing -> Nothing }) }"
  , "k" ++ v ++ " a b = if a then (if b then True else False) else False"
  , "s" ++ v ++ " = foldr (\\x acc -> x + acc) 0 . map fst . zip [1 .. " ++ v ++ "] . reverse . reverse"
  ]
  where v = show i

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  writeFile "Generated.hs" (source n)
  ideas <- hlint ["Generated.hs", "--quiet"]
  mapM_ print (take 8 ideas)
  print (length ideas)
