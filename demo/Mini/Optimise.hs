{-# LANGUAGE OverloadedStrings #-}
-- | Simplification: constants are computed, and what is used at most once or is trivial is put where it is used.
module Mini.Optimise (optimise, size) where

import qualified Data.Map.Strict as Map
import qualified Data.Set as Set
import Mini.Syntax

-- | Simplifies until nothing changes (or for long enough).
optimise :: Expr -> Expr
optimise = go (10 :: Int)
  where
    go 0 e = e
    go n e = let e' = simplify e in if e' == e then e else go (n - 1) e'

size :: Expr -> Int
size e = 1 + sum (map size (children e))

children :: Expr -> [Expr]
children e = case e of
  Lam _ b -> [b]
  App f x -> [f, x]
  Let _ a b -> [a, b]
  If c a b -> [c, a, b]
  Binary _ a b -> [a, b]
  Match s a _ _ b -> [s, a, b]
  _ -> []

simplify :: Expr -> Expr
simplify expression = case expression of
  Lam name body -> Lam name (simplify body)
  -- A Let may be recursive, an argument cannot refer to the parameter.
  App (Lam name body) x | not (name `freeIn` x) -> simplify (Let name x body)
  App f x -> App (simplify f) (simplify x)
  Let name bound body
    | trivial bound, not (name `freeIn` bound), not (captures bound body) -> simplify (substitute name bound body)
    | Lam _ _ <- bound, not (name `freeIn` body) -> simplify body
    | otherwise -> Let name (simplify bound) (simplify body)
  If c a b -> case simplify c of
    Lit (BoolL True) -> simplify a
    Lit (BoolL False) -> simplify b
    c' -> If c' (simplify a) (simplify b)
  Binary operator a b -> fold operator (simplify a) (simplify b)
  Match s a first rest b -> Match (simplify s) (simplify a) first rest (simplify b)
  _ -> expression

trivial :: Expr -> Bool
trivial e = case e of
  Lit _ -> True
  Var _ -> True
  Nil -> True
  _ -> False

fold :: Operator -> Expr -> Expr -> Expr
fold operator (Lit (IntegerL a)) (Lit (IntegerL b)) = case operator of
  Add -> integer (a + b)
  Sub -> integer (a - b)
  Mul -> integer (a * b)
  Equal -> bool (a == b)
  Less -> bool (a < b)
  AtMost -> bool (a <= b)
  _ -> Binary operator (integer a) (integer b)
  where
    integer = Lit . IntegerL
    bool = Lit . BoolL
fold Add a (Lit (IntegerL 0)) = a
fold Mul a (Lit (IntegerL 1)) = a
fold Append (Lit (TextL a)) (Lit (TextL b)) = Lit (TextL (a <> b))
fold operator a b = Binary operator a b

free :: Expr -> Set.Set Name
free e = case e of
  Var n -> Set.singleton n
  Lam n b -> Set.delete n (free b)
  Let n a b -> Set.delete n (free a <> free b)
  Match s a f r b -> free s <> free a <> Set.delete f (Set.delete r (free b))
  _ -> foldMap free (children e)

freeIn :: Name -> Expr -> Bool
freeIn n e = n `Set.member` free e

-- | Whether something in the body binds a name that is free in the expression.
captures :: Expr -> Expr -> Bool
captures bound body = not (Set.null (free bound `Set.intersection` binders body))

binders :: Expr -> Set.Set Name
binders e = own <> foldMap binders (children e)
  where
    own = case e of
      Lam n _ -> Set.singleton n
      Let n _ _ -> Set.singleton n
      Match _ _ f r _ -> Set.fromList [f, r]
      _ -> Set.empty

substitute :: Name -> Expr -> Expr -> Expr
substitute name value = go (Map.singleton name value)
  where
    go s e = case e of
      Var n -> Map.findWithDefault e n s
      Lam n b -> Lam n (go (Map.delete n s) b)
      App f x -> App (go s f) (go s x)
      Let n a b -> let s' = Map.delete n s in Let n (go s' a) (go s' b)
      If c a b -> If (go s c) (go s a) (go s b)
      Binary o a b -> Binary o (go s a) (go s b)
      Match x a f r b -> Match (go s x) (go s a) f r (go (Map.delete f (Map.delete r s)) b)
      _ -> e
