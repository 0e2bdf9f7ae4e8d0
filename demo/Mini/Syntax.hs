-- | The language: expressions of a small, strict, typed functional language.
module Mini.Syntax where

import Data.Text (Text)

type Name = Text

data Literal
  = IntegerL !Integer
  | BoolL !Bool
  | TextL !Text
  deriving (Eq, Ord, Show)

data Operator
  = Add | Sub | Mul | Div | Mod
  | Equal | Less | AtMost
  | And | Or
  | Cons | Append
  deriving (Eq, Ord, Show, Enum, Bounded)

data Expr
  = Lit !Literal
  | Var !Name
  | Lam !Name Expr
  | App Expr Expr
  | Let !Name Expr Expr           -- ^ may be recursive
  | If Expr Expr Expr
  | Binary !Operator Expr Expr
  | Nil
  | Match Expr Expr !Name !Name Expr  -- ^ match a list: empty case, head, tail, other case
  deriving (Eq, Ord, Show)

-- | A program: definitions, and expressions whose values are printed.
data Item
  = Define !Name Expr
  | Print Expr
  deriving (Eq, Show)
