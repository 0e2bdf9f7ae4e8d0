{-# LANGUAGE OverloadedStrings #-}
-- | A program from its text to what it prints: every item is parsed, typed, simplified, compiled and run, in order.
module Mini.Session (session, Line (..)) where

import Control.Monad.State.Strict
import qualified Data.Map.Strict as Map
import Data.Text (Text)
import qualified Data.Text as Text
import Mini.Compile
import Mini.Infer
import Mini.Lexer
import Mini.Machine
import Mini.Optimise
import qualified Mini.Parser as Parser
import Mini.Syntax
import Mini.Type

data Line = Said Text | Problem Text

data World = World { types :: !Environment, values :: !Globals }

session :: Text -> [Line]
session text = case tokens text >>= Parser.program of
  Left problem -> [Problem (Text.pack problem)]
  Right items -> concat (evalState (mapM item items) (World initial builtins))

item :: Item -> State World [Line]
item it = do
  world <- get
  case inferItem (types world) it of
    Left problem -> pure [Problem (title <> ": " <> Text.pack problem)]
    Right (t, environment) -> case run (values world) (compile simple) of
      Left problem -> pure [Problem (title <> ": " <> problem)]
      Right value -> case it of
        Define name _ -> do
          put (World environment (Map.insert name value (values world)))
          pure [Said (name <> " : " <> pretty t <> "   (" <> Text.pack (show (size whole)) <> " nodes, " <> Text.pack (show (size simple)) <> " simplified)")]
        Print _ -> pure [Said ("  " <> showValue value)]
  where
    title = case it of Define name _ -> name; Print _ -> "print"
    whole = case it of
      Define name body -> Let name body (Var name)
      Print e -> e
    simple = optimise whole
