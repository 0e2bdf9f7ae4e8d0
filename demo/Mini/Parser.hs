{-# LANGUAGE LambdaCase #-}
{-# LANGUAGE OverloadedStrings #-}
-- | From tokens to expressions, by recursive descent with operator precedences.
module Mini.Parser (program) where

import Control.Monad
import Control.Monad.Except
import Control.Monad.State.Strict
import Data.Text (Text)
import qualified Data.Text as Text
import Mini.Lexer
import Mini.Syntax

type Parser = StateT [Located] (Either String)

program :: [Located] -> Either String [Item]
program = evalStateT everything
  where
    everything :: Parser [Item]
    everything = get >>= \case
      [] -> pure []
      _ -> (:) <$> item <*> everything

item :: Parser Item
item = peek >>= \case
  Just (Keyword "def") -> do
    advance
    name <- word
    parameters <- names
    symbol "="
    body <- expression
    symbol ";"
    pure (Define name (foldr Lam body parameters))
  Just (Keyword "print") -> advance *> (Print <$> expression) <* symbol ";"
  _ -> expected "`def` or `print`"

expression :: Parser Expr
expression = peek >>= \case
  Just (Keyword "fun") -> advance *> (flip (foldr Lam) <$> names <*> (symbol "->" *> expression))
  Just (Keyword "let") -> do
    advance
    name <- word
    parameters <- names
    symbol "="
    bound <- expression
    keyword "in"
    Let name (foldr Lam bound parameters) <$> expression
  Just (Keyword "if") ->
    If <$> (advance *> expression) <*> (keyword "then" *> expression) <*> (keyword "else" *> expression)
  Just (Keyword "match") -> do
    advance
    scrutinee <- expression
    keyword "with" *> symbol "[" *> symbol "]" *> symbol "->"
    empty <- expression
    symbol "|"
    first <- word
    symbol "::"
    rest <- word
    symbol "->"
    Match scrutinee empty first rest <$> expression
  _ -> operators 0

data Side = LeftToRight | RightToLeft

-- | Operators by precedence, weakest first.
table :: [(Side, [(Text, Operator)])]
table =
  [ (RightToLeft, [("||", Or)])
  , (RightToLeft, [("&&", And)])
  , (LeftToRight, [("==", Equal), ("<=", AtMost), ("<", Less)])
  , (RightToLeft, [("::", Cons), ("++", Append)])
  , (LeftToRight, [("+", Add), ("-", Sub)])
  , (LeftToRight, [("*", Mul), ("/", Div), ("%", Mod)])
  ]

operators :: Int -> Parser Expr
operators level
  | level >= length table = application
  | otherwise = operators (level + 1) >>= continue
  where
    (side, known) = table !! level
    continue left = peek >>= \case
      Just (Symbol s) | Just operator <- lookup s known -> do
        advance
        case side of
          LeftToRight -> operators (level + 1) >>= continue . Binary operator left
          RightToLeft -> Binary operator left <$> operators level
      _ -> pure left

application :: Parser Expr
application = atom >>= continue
  where
    continue f = peek >>= \case
      Just t | startsAtom t -> atom >>= continue . App f
      _ -> pure f
    startsAtom = \case
      Word _ -> True
      Number _ -> True
      Quoted _ -> True
      Keyword k -> k == "true" || k == "false"
      Symbol s -> s == "(" || s == "["

atom :: Parser Expr
atom = peek >>= \case
  Just (Word w) -> Var w <$ advance
  Just (Number n) -> Lit (IntegerL n) <$ advance
  Just (Quoted t) -> Lit (TextL t) <$ advance
  Just (Keyword "true") -> Lit (BoolL True) <$ advance
  Just (Keyword "false") -> Lit (BoolL False) <$ advance
  Just (Symbol "(") -> advance *> expression <* symbol ")"
  Just (Symbol "[") -> advance *> elements
  _ -> expected "an expression"
  where
    elements = peek >>= \case
      Just (Symbol "]") -> Nil <$ advance
      _ -> do
        first <- expression
        more <- rest
        pure (foldr (Binary Cons) Nil (first : more))
    rest = peek >>= \case
      Just (Symbol ",") -> advance *> ((:) <$> expression <*> rest)
      _ -> [] <$ symbol "]"

peek :: Parser (Maybe Token)
peek = gets (\case [] -> Nothing; t : _ -> Just (tokenOf t))

advance :: Parser ()
advance = modify' (drop 1)

names :: Parser [Name]
names = peek >>= \case
  Just (Word w) -> advance *> ((w :) <$> names)
  _ -> pure []

word :: Parser Name
word = peek >>= \case
  Just (Word w) -> w <$ advance
  _ -> expected "a name"

symbol, keyword :: Text -> Parser ()
symbol s = exactly (Symbol s) s
keyword k = exactly (Keyword k) k

exactly :: Token -> Text -> Parser ()
exactly token shown = do
  next <- peek
  if next == Just token then advance else void (expected ("`" ++ Text.unpack shown ++ "`"))

expected :: String -> Parser a
expected what = get >>= \case
  [] -> throwError ("at the end: expected " ++ what)
  t : _ -> throwError ("line " ++ show (lineOf t) ++ ": expected " ++ what ++ ", found " ++ show (tokenOf t))
