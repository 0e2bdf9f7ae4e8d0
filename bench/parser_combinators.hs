-- Parsing: a monadic parser over strings for arithmetic, with a record environment and an evaluator.
-- args: 28000
import Control.Applicative
import Data.Char
import qualified Data.Map as M
import System.Environment

newtype P a = P { runP :: String -> Maybe (a, String) }
instance Functor P where fmap f (P p) = P (\s -> case p s of { Nothing -> Nothing; Just (a, r) -> Just (f a, r) })
instance Applicative P where
  pure a = P (\s -> Just (a, s))
  P f <*> P p = P (\s -> case f s of { Nothing -> Nothing; Just (g, r) -> case p r of { Nothing -> Nothing; Just (a, q) -> Just (g a, q) } })
instance Monad P where P p >>= k = P (\s -> case p s of { Nothing -> Nothing; Just (a, r) -> runP (k a) r })
instance Alternative P where
  empty = P (const Nothing)
  P p <|> P q = P (\s -> case p s of { Nothing -> q s; r -> r })

satisfy :: (Char -> Bool) -> P Char
satisfy f = P (\s -> case s of { c : cs | f c -> Just (c, cs); _ -> Nothing })

token :: P a -> P a
token p = p <* many (satisfy isSpace)

sym :: String -> P String
sym = token . mapM (satisfy . (==))

data E = Num Integer | Var String | Bin Char E E | Let String E E deriving Show

expr, term, factor :: P E
expr = letE <|> (term >>= rest) where
  rest a = (do { o <- token (satisfy (`elem` "+-")); b <- term; rest (Bin o a b) }) <|> pure a
  letE = Let <$> (sym "let" *> ident) <*> (sym "=" *> expr) <*> (sym "in" *> expr)
term = factor >>= rest where
  rest a = (do { o <- token (satisfy (`elem` "*%")); b <- factor; rest (Bin o a b) }) <|> pure a
factor = (Num . read <$> token (some (satisfy isDigit))) <|> (sym "(" *> expr <* sym ")") <|> (Var <$> ident)

ident :: P String
ident = token (some (satisfy isLower))

eval :: M.Map String Integer -> E -> Integer
eval env e = case e of
  Num n -> n
  Var v -> env M.! v
  Let v a b -> eval (M.insert v (eval env a) env) b
  Bin '+' a b -> eval env a + eval env b
  Bin '-' a b -> eval env a - eval env b
  Bin '*' a b -> eval env a * eval env b `mod` 1000003
  Bin _ a b -> eval env a `mod` (1 + abs (eval env b))

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let line k = "let x = " ++ show k ++ " + 3 * (7 - " ++ show (k * 13) ++ ") in let yy = (x * x + " ++ show (k `mod` 17) ++ ") % 1009 in x * yy - (yy + 2 * (x - 1)) * (3 + x % 7)"
      parsed = [ maybe (error "no parse") fst (runP expr (line k)) | k <- [1 .. n :: Int] ]
  print (sum (map (eval M.empty) parsed) `mod` 1000003)
  print (length (concatMap show (take (n `div` 4) parsed)))
