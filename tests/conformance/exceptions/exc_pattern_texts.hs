-- Texts of the compiler's own failures: incomplete patterns, case, lambda, record selector and constructor, missing
-- method, assert.
{-# OPTIONS_GHC -Wno-missing-fields -Wno-missing-methods -fno-ignore-asserts #-}
import Control.Exception

data R = A { fieldA :: Int } | B { fieldB :: Int, other :: String } deriving Show
class C a where { meth :: a -> Int; meth2 :: a -> Int }
instance C Bool where meth _ = 1

t :: a -> IO ()
t x = do
  r <- try (evaluate x)
  case r of
    Left e -> putStrLn ("caught " ++ show (e :: SomeException))
    Right _ -> putStrLn "fine"

main :: IO ()
main = do
  t (case Just 1 of Nothing -> 'n')
  t ((\(Just x) -> x) (Nothing :: Maybe Int))
  t (let (Just y) = (Nothing :: Maybe Int) in y)
  t (fieldA (B 1 "x"))
  t (other (B { fieldB = 1 }))
  t ((B 1 "x") { fieldA = 3 })
  t (meth2 True)
  t (assert (1 + 1 == (3 :: Int)) 'a')
  t (if' 3)
  t (undefined :: Int)
  t (errorWithoutStackTrace "plain" :: Int)
  t (throw (IndexOutOfBounds "io") :: Int)
  r <- try (do { Just z <- return (Nothing :: Maybe Int); print z })
  print (r :: Either IOException ())
  where if' n | n > 5 = 'x' | n > (4 :: Int) = 'y'
