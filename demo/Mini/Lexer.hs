{-# LANGUAGE OverloadedStrings #-}
-- | From text to tokens, each with the line it is on.
module Mini.Lexer (Token (..), Located (..), tokens) where

import Data.Char
import Data.Text (Text)
import qualified Data.Set as Set
import qualified Data.Text as Text

data Token
  = Word !Text
  | Keyword !Text
  | Number !Integer
  | Quoted !Text
  | Symbol !Text
  deriving (Eq, Ord, Show)

data Located = Located { lineOf :: !Int, tokenOf :: !Token }
  deriving (Eq, Show)

keywords :: Set.Set Text
keywords = Set.fromList ["let", "in", "if", "then", "else", "fun", "match", "with", "true", "false", "print", "def"]

-- | Longest first, so that a symbol is not taken for its beginning.
symbols :: [Text]
symbols = ["->", "==", "<=", "&&", "||", "::", "++", "<", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "=", "|", ";"]

tokens :: Text -> Either String [Located]
tokens = go 1
  where
    go line text = case Text.uncons text of
      Nothing -> Right []
      Just ('\n', rest) -> go (line + 1) rest
      Just ('#', rest) -> go line (Text.dropWhile (/= '\n') rest)
      Just ('"', rest) ->
        let (inside, after) = Text.break (== '"') rest
         in if Text.null after
              then Left ("line " ++ show line ++ ": a text without an end")
              else (Located line (Quoted inside) :) <$> go (line + Text.count "\n" inside) (Text.drop 1 after)
      Just (c, rest)
        | isSpace c -> go line rest
        | isDigit c ->
            let (digits, after) = Text.span isDigit text
             in (Located line (Number (Text.foldl' (\n d -> n * 10 + toInteger (digitToInt d)) 0 digits)) :) <$> go line after
        | isAlpha c || c == '_' ->
            let (word, after) = Text.span (\x -> isAlphaNum x || x == '_' || x == '\'') text
                token = if word `Set.member` keywords then Keyword word else Word word
             in (Located line token :) <$> go line after
        | otherwise -> case filter (`Text.isPrefixOf` text) symbols of
            symbol : _ -> (Located line (Symbol symbol) :) <$> go line (Text.drop (Text.length symbol) text)
            [] -> Left ("line " ++ show line ++ ": what is " ++ show c ++ "?")
