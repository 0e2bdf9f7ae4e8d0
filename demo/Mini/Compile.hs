-- | From expressions to instructions: names become distances.
module Mini.Compile (compile) where

import Data.List (elemIndex)
import Mini.Code
import Mini.Syntax

compile :: Expr -> Code
compile = expr []

-- | @scope@ lists the variables, innermost first.
expr :: [Name] -> Expr -> Code
expr scope e = case e of
  Lit l -> [Push l]
  Nil -> [PushNil]
  Var n -> maybe [Global n] (\i -> [Access i]) (elemIndex n scope)
  Lam n b -> [Closure (expr (n : scope) b ++ [Return])]
  App f x -> expr scope f ++ expr scope x ++ [Apply]
  Let n (Lam p b) body -> Recursive (expr (p : n : scope) b ++ [Return]) : Bind : expr (n : scope) body ++ [Unbind 1]
  Let n a b -> expr scope a ++ [Bind] ++ expr (n : scope) b ++ [Unbind 1]
  If c a b -> expr scope c ++ [Branch (expr scope a) (expr scope b)]
  Binary And a b -> expr scope a ++ [Branch (expr scope b) [Push (BoolL False)]]
  Binary Or a b -> expr scope a ++ [Branch [Push (BoolL True)] (expr scope b)]
  Binary o a b -> expr scope a ++ expr scope b ++ [Operate o]
  Match s a f r b -> expr scope s ++ [BranchList (expr scope a) (expr (f : r : scope) b ++ [Unbind 2])]
