-- Generic representations, deepseq, Data.Data, coerce, monoids and traversals.
{-# LANGUAGE DeriveGeneric, DeriveAnyClass, DeriveDataTypeable, DeriveTraversable, TypeOperators, FlexibleContexts, FlexibleInstances, TypeSynonymInstances #-}
import Control.DeepSeq
import Control.Exception
import Data.Coerce
import Data.Data
import Data.Functor.Compose
import Data.Monoid
import Data.Traversable
import GHC.Generics

data T a = L | N (T a) a (T a) deriving (Show, Generic, NFData, Data, Functor, Foldable, Traversable)

class Names f where names :: f p -> [String]
instance (Names f, Datatype d) => Names (D1 d f) where names m@(M1 x) = datatypeName m : names x
instance (Names f, Names g) => Names (f :+: g) where { names (L1 x) = names x; names (R1 x) = names x }
instance Constructor c => Names (C1 c f) where names m = [conName m]

build :: Int -> Int -> T Int
build a b | a > b = L
          | otherwise = let m = (a + b) `div` 2 in N (build a (m - 1)) m (build (m + 1) b)

main :: IO ()
main = do
  let t = build 1 1000
  print (names (from t), names (from (L :: T Int)))
  print (sum t, maximum t, length t, elem 500 t)
  print (rnf t, toConstr t, map showConstr (dataTypeConstrs (dataTypeOf t)))
  r <- try (evaluate (force (fmap (\x -> if x == 700 then error "deep" else x) t)))
  putStrLn (either (\(ErrorCall m) -> m) (const "forced") r)
  print (mapAccumL (\a x -> (a + x, a)) 0 (build 1 7))
  print (getSum (foldMap Sum t), getAll (foldMap (All . (> 0)) t), getLast (foldMap (Last . Just) t))
  print (coerce (map Sum [1, 2, 3 :: Int]) :: [Int], getCompose (Compose [Just 1, Nothing :: Maybe Int]))
  print (traverse (\x -> if x < 8 then Just (x * 2) else Nothing) (build 1 7) $> "ok", sequenceA [[1, 2], [3 :: Int]])
  where f $> x = fmap (const x) f
