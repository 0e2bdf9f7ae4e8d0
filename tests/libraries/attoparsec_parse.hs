-- attoparsec: parsing lines in pieces with partial results, backtracking, numbers, and failures.
-- needs: attoparsec
{-# LANGUAGE OverloadedStrings #-}
import Control.Applicative
import Data.Attoparsec.ByteString.Char8
import qualified Data.ByteString.Char8 as B

data E = N Double | Op Char E E deriving Show

expr, term, factor :: Parser E
expr = term >>= rest where rest a = (do { o <- tok (satisfy (inClass "+-")); b <- term; rest (Op o a b) }) <|> pure a
term = factor >>= rest where rest a = (do { o <- tok (satisfy (inClass "*/")); b <- factor; rest (Op o a b) }) <|> pure a
factor = (N <$> tok double) <|> (tok (char '(') *> expr <* tok (char ')'))

tok :: Parser a -> Parser a
tok p = p <* skipSpace

eval :: E -> Double
eval (N d) = d
eval (Op o a b) = (case o of { '+' -> (+); '-' -> (-); '*' -> (*); _ -> (/) }) (eval a) (eval b)

row :: Parser (Int, B.ByteString, [Int])
row = (,,) <$> decimal <* char ';' <*> takeTill (== ';') <* char ';' <*> (signed decimal `sepBy` char ',') <* endOfLine

main :: IO ()
main = do
  print (fmap eval (parseOnly (skipSpace *> expr <* endOfInput) "1 + 2 * (3 - 4.5) / 0.25 - -7"))
  print (parseOnly (expr <* endOfInput) "1 + * 2" `seq` either (const "no parse") (const "parsed") (parseOnly (expr <* endOfInput) "1 + * 2"))
  let text = B.concat [ B.pack (show n ++ ";name " ++ show (n * 3) ++ ";" ++ concatMap (\k -> show (k - n) ++ ",") [1 .. n `mod` 5] ++ show n ++ "\n") | n <- [1 .. 5000 :: Int] ]
  let rows = parseOnly (many row <* endOfInput) text
  print (fmap (\rs -> (length rs, sum [ sum xs | (_, _, xs) <- rs ], B.length (B.concat [ s | (_, s, _) <- rs ]))) rows)
  -- Fed byte by byte.
  let feedAll r [] = feed r B.empty
      feedAll r (c : cs) = feedAll (feed r (B.singleton c)) cs
  case feedAll (parse row "12") (B.unpack ";abc;1,-2,3\nrest") of
    Done rest v -> print (rest, v)
    Fail rest _ e -> print (rest, e)
    Partial _ -> putStrLn "wants more"
