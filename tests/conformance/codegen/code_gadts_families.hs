-- Class hierarchies with functional dependencies, type families, GADTs and data kinds evaluated at run time.
{-# LANGUAGE GADTs, KindSignatures, DataKinds, TypeFamilies, FunctionalDependencies, FlexibleInstances, RankNTypes, ScopedTypeVariables, UndecidableInstances #-}
import Data.Kind

data Nat = Z | S Nat

data Vec (n :: Nat) a where
  Nil :: Vec 'Z a
  (:>) :: a -> Vec n a -> Vec ('S n) a
infixr 5 :>

toL :: Vec n a -> [a]
toL Nil = []
toL (x :> xs) = x : toL xs

zipV :: (a -> b -> c) -> Vec n a -> Vec n b -> Vec n c
zipV _ Nil Nil = Nil
zipV f (a :> as) (b :> bs) = f a b :> zipV f as bs

data Expr :: Type -> Type where
  I :: Int -> Expr Int
  B :: Bool -> Expr Bool
  Add :: Expr Int -> Expr Int -> Expr Int
  If :: Expr Bool -> Expr a -> Expr a -> Expr a
  Le :: Expr Int -> Expr Int -> Expr Bool
  Pair :: Expr a -> Expr b -> Expr (a, b)
  Fst :: Expr (a, b) -> Expr a

eval :: Expr a -> a
eval e = case e of
  I n -> n
  B b -> b
  Add a b -> eval a + eval b
  If c a b -> if eval c then eval a else eval b
  Le a b -> eval a <= eval b
  Pair a b -> (eval a, eval b)
  Fst p -> fst (eval p)

class Container f where
  type Elem f
  empty :: f
  insert :: Elem f -> f -> f
  list :: f -> [Elem f]
instance Container [a] where { type Elem [a] = a; empty = []; insert = (:); list = id }

class Convert a b | a -> b where convert :: a -> b
instance Convert Int String where convert = show
instance Convert Bool Int where convert = fromEnum
instance Convert a b => Convert [a] [b] where convert = map convert

main :: IO ()
main = do
  print (toL (zipV (+) (1 :> 2 :> 3 :> Nil) (10 :> 20 :> 30 :> Nil)))
  print (eval (If (Le (I 3) (Add (I 1) (I 1))) (I 10) (Fst (Pair (Add (I 4) (I 5)) (B True)))))
  print (list (insert 'a' (insert 'b' empty) :: String))
  print (convert [1 :: Int, 2], convert [[True], [False, True]])
