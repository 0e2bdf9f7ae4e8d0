{-# LANGUAGE OverloadedStrings #-}
-- | The machine: a stack of values, an environment of variables, and a dump of what to return to.
module Mini.Machine (Value, Globals, run, showValue, builtins) where

import qualified Data.Map.Strict as Map
import Data.Text (Text)
import qualified Data.Text as Text
import Mini.Code
import Mini.Syntax

data Value
  = IntegerV !Integer
  | BoolV !Bool
  | TextV !Text
  | ListV [Value]
  | ClosureV [Value] Code
  | BuiltinV (Value -> Value)

type Globals = Map.Map Name Value

data Frame = Frame [Value] Code

builtins :: Globals
builtins = Map.fromList [("show", BuiltinV (TextV . showValue)), ("length", BuiltinV size)]
  where
    size (ListV vs) = IntegerV (toInteger (length vs))
    size v = v

run :: Globals -> Code -> Either Text Value
run globals code0 = step code0 [] [] []
  where
    step :: Code -> [Value] -> [Value] -> [Frame] -> Either Text Value
    step [] (v : _) _ [] = Right v
    step [] stack env (Frame env' code : dump) = step code stack (env `seq` env') dump
    step [] [] _ [] = Left "nothing to return"
    step (i : code) stack env dump = case (i, stack) of
      (Push l, _) -> step code (literal l : stack) env dump
      (PushNil, _) -> step code (ListV [] : stack) env dump
      (Access n, _) -> step code (env !! n : stack) env dump
      (Global n, _) -> case Map.lookup n globals of
        Just v -> step code (v : stack) env dump
        Nothing -> Left (n <> " is used before it has a value")
      (Closure body, _) -> step code (ClosureV env body : stack) env dump
      (Recursive body, _) -> let self = ClosureV (self : env) body in step code (self : stack) env dump
      (Apply, x : f : rest) -> apply f x code rest env dump
      (Return, _) -> case dump of
        Frame env' code' : dump' -> step code' stack env' dump'
        [] -> step [] stack env []
      (Bind, v : rest) -> step code rest (v : env) dump
      (Unbind n, _) -> step code stack (drop n env) dump
      (Branch a b, BoolV c : rest) -> step ((if c then a else b) `before` code) rest env dump
      (BranchList a _, ListV [] : rest) -> step (a `before` code) rest env dump
      (BranchList _ b, ListV (v : vs) : rest) -> step (b `before` code) rest (v : ListV vs : env) dump
      (Operate o, b : a : rest) -> operate o a b >>= \v -> v `seq` step code (v : rest) env dump
      _ -> Left "the machine is stuck"

    -- A call at the end of a function leaves nothing to return to.
    apply (ClosureV env' body) x [Return] rest _ dump = step body rest (x : env') dump
    apply (ClosureV env' body) x code rest env dump = step body rest (x : env') (Frame env code : dump)
    apply (BuiltinV f) x code rest env dump = step code (f x : rest) env dump
    apply _ _ _ _ _ _ = Left "not a function"

    before a code = a ++ code

literal :: Literal -> Value
literal l = case l of
  IntegerL n -> IntegerV n
  BoolL b -> BoolV b
  TextL t -> TextV t

operate :: Operator -> Value -> Value -> Either Text Value
operate o (IntegerV a) (IntegerV b) = case o of
  Add -> Right (IntegerV (a + b))
  Sub -> Right (IntegerV (a - b))
  Mul -> Right (IntegerV (a * b))
  Div | b == 0 -> Left "division by zero"
      | otherwise -> Right (IntegerV (a `div` b))
  Mod | b == 0 -> Left "division by zero"
      | otherwise -> Right (IntegerV (a `mod` b))
  Equal -> Right (BoolV (a == b))
  Less -> Right (BoolV (a < b))
  AtMost -> Right (BoolV (a <= b))
  _ -> Left "not an operator of numbers"
operate Cons a (ListV vs) = Right (ListV (a : vs))
operate Append (TextV a) (TextV b) = Right (TextV (a <> b))
operate Equal a b = BoolV <$> equal a b
operate _ _ _ = Left "an operator meets values it does not know"

equal :: Value -> Value -> Either Text Bool
equal (IntegerV a) (IntegerV b) = Right (a == b)
equal (BoolV a) (BoolV b) = Right (a == b)
equal (TextV a) (TextV b) = Right (a == b)
equal (ListV as) (ListV bs)
  | length as /= length bs = Right False
  | otherwise = and <$> sequence (zipWith equal as bs)
equal _ _ = Left "functions cannot be compared"

showValue :: Value -> Text
showValue v = case v of
  IntegerV n -> Text.pack (show n)
  BoolV b -> if b then "true" else "false"
  TextV t -> t
  ListV vs -> "[" <> Text.intercalate ", " (map showValue vs) <> "]"
  _ -> "<function>"
