{-# LANGUAGE OverloadedStrings #-}
-- | Types, and how they are written.
module Mini.Type where

import qualified Data.IntMap.Strict as IntMap
import qualified Data.IntSet as IntSet
import Data.Text (Text)
import qualified Data.Text as Text

data Type
  = Variable !Int
  | IntegerT
  | BoolT
  | TextT
  | List Type
  | Type :-> Type
  deriving (Eq, Ord, Show)

infixr 5 :->

-- | A type in which some variables stand for any type.
data Scheme = Forall IntSet.IntSet Type
  deriving (Show)

freeVariables :: Type -> IntSet.IntSet
freeVariables t = case t of
  Variable v -> IntSet.singleton v
  List a -> freeVariables a
  a :-> b -> freeVariables a <> freeVariables b
  _ -> IntSet.empty

schemeVariables :: Scheme -> IntSet.IntSet
schemeVariables (Forall bound t) = freeVariables t `IntSet.difference` bound

pretty :: Type -> Text
pretty whole = go (0 :: Int) whole
  where
    letters = IntMap.fromList (zip (IntSet.toList (freeVariables whole)) (map Text.singleton ['a' ..]))
    go precedence t = case t of
      Variable v -> IntMap.findWithDefault "?" v letters
      IntegerT -> "Integer"
      BoolT -> "Bool"
      TextT -> "Text"
      List a -> "[" <> go 0 a <> "]"
      a :-> b -> parens (precedence > 0) (go 1 a <> " -> " <> go 0 b)
    parens yes t = if yes then "(" <> t <> ")" else t
