{-# LANGUAGE OverloadedStrings #-}
-- | Type inference in the manner of Hindley and Milner.
module Mini.Infer (Environment, inferItem, initial) where

import Control.Monad
import Control.Monad.Except
import Control.Monad.State.Strict
import qualified Data.IntMap.Strict as IntMap
import qualified Data.IntSet as IntSet
import qualified Data.Map.Strict as Map
import qualified Data.Text as Text
import Mini.Syntax
import Mini.Type

type Environment = Map.Map Name Scheme

data Solver = Solver { fresh :: !Int, substitution :: !(IntMap.IntMap Type) }

type Infer = StateT Solver (Either String)

initial :: Environment
initial = Map.fromList
  [ ("show", Forall (IntSet.singleton 0) (Variable 0 :-> TextT))
  , ("length", Forall (IntSet.singleton 0) (List (Variable 0) :-> IntegerT))
  ]

-- | The type of a definition or of what is printed, and the environment for the items after it.
inferItem :: Environment -> Item -> Either String (Type, Environment)
inferItem environment item = flip evalStateT (Solver 1 IntMap.empty) $ case item of
  Define name body -> do
    t <- recursive environment name body
    scheme@(Forall _ shown) <- generalise environment t
    pure (shown, Map.insert name scheme environment)
  Print e -> do
    t <- infer environment e >>= resolve
    pure (t, environment)

recursive :: Environment -> Name -> Expr -> Infer Type
recursive environment name body = do
  self <- variable
  t <- infer (Map.insert name (Forall IntSet.empty self) environment) body
  unify self t
  pure t

infer :: Environment -> Expr -> Infer Type
infer environment expression = case expression of
  Lit (IntegerL _) -> pure IntegerT
  Lit (BoolL _) -> pure BoolT
  Lit (TextL _) -> pure TextT
  Var name -> maybe (throwError ("there is no " ++ Text.unpack name)) instantiate (Map.lookup name environment)
  Lam name body -> do
    argument <- variable
    (argument :->) <$> infer (Map.insert name (Forall IntSet.empty argument) environment) body
  App f x -> do
    tf <- infer environment f
    tx <- infer environment x
    result <- variable
    unify tf (tx :-> result)
    pure result
  Let name bound body -> do
    scheme <- recursive environment name bound >>= generalise environment
    infer (Map.insert name scheme environment) body
  If c a b -> do
    infer environment c >>= unify BoolT
    ta <- infer environment a
    infer environment b >>= unify ta
    pure ta
  Binary operator a b -> do
    (ta, tb, result) <- signature operator
    infer environment a >>= unify ta
    infer environment b >>= unify tb
    pure result
  Nil -> List <$> variable
  Match scrutinee empty first rest other -> do
    element <- variable
    infer environment scrutinee >>= unify (List element)
    t <- infer environment empty
    let bind = Map.insert first (Forall IntSet.empty element) . Map.insert rest (Forall IntSet.empty (List element))
    infer (bind environment) other >>= unify t
    pure t

signature :: Operator -> Infer (Type, Type, Type)
signature operator
  | operator `elem` [Add, Sub, Mul, Div, Mod] = pure (IntegerT, IntegerT, IntegerT)
  | operator `elem` [Less, AtMost] = pure (IntegerT, IntegerT, BoolT)
  | operator `elem` [And, Or] = pure (BoolT, BoolT, BoolT)
  | operator == Append = pure (TextT, TextT, TextT)
  | operator == Cons = (\a -> (a, List a, List a)) <$> variable
  | otherwise = (\a -> (a, a, BoolT)) <$> variable

variable :: Infer Type
variable = state (\s -> (Variable (fresh s), s { fresh = fresh s + 1 }))

instantiate :: Scheme -> Infer Type
instantiate (Forall bound t) = do
  renaming <- forM (IntSet.toList bound) (\v -> (,) v <$> variable)
  pure (apply (IntMap.fromList renaming) t)

generalise :: Environment -> Type -> Infer Scheme
generalise environment t = do
  resolved <- resolve t
  s <- gets substitution
  -- Only variables of the surroundings that are not yet generalised stay fixed.
  let schemes = filter (not . IntSet.null . schemeVariables) (Map.elems environment)
      fixed = IntSet.unions [freeVariables (apply s (Variable v)) | scheme <- schemes, v <- IntSet.toList (schemeVariables scheme)]
  pure (Forall (freeVariables resolved `IntSet.difference` fixed) resolved)

resolve :: Type -> Infer Type
resolve t = gets (\s -> apply (substitution s) t)

apply :: IntMap.IntMap Type -> Type -> Type
apply s t = case t of
  Variable v -> maybe t (apply s) (IntMap.lookup v s)
  List a -> List (apply s a)
  a :-> b -> apply s a :-> apply s b
  _ -> t

unify :: Type -> Type -> Infer ()
unify x y = do
  a <- resolve x
  b <- resolve y
  case (a, b) of
    _ | a == b -> pure ()
    (Variable v, t) -> assign v t
    (t, Variable v) -> assign v t
    (List p, List q) -> unify p q
    (p :-> q, r :-> s) -> unify p r >> unify q s
    _ -> throwError ("cannot be both " ++ Text.unpack (pretty a) ++ " and " ++ Text.unpack (pretty b))

assign :: Int -> Type -> Infer ()
assign v t
  | v `IntSet.member` freeVariables t = throwError "a type would contain itself"
  | otherwise = modify' (\s -> s { substitution = IntMap.insert v t (substitution s) })
