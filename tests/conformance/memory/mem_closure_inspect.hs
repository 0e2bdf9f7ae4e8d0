-- ghc-heap's view of closures: constructor names and fields, functions, thunks, arrays.
-- ghc: -O0 -threaded
import GHC.Exts.Heap
import Control.Exception

kind :: Closure -> String
kind c = case c of
  ConstrClosure {} -> "constructor " ++ name c ++ " " ++ show (length (ptrArgs c), length (dataArgs c))
  FunClosure {} -> "function"
  ThunkClosure {} -> "thunk"
  PAPClosure {} -> "partial application " ++ show (arity c, n_args c)
  MutVarClosure {} -> "mutable variable"
  ArrWordsClosure {} -> "bytes"
  MVarClosure {} -> "mvar"
  IndClosure {} -> "indirection"
  BlackholeClosure {} -> "black hole"
  _ -> "other"

data Rec = Rec Int !Double {-# UNPACK #-} !Int [Char]

add3 :: Int -> Int -> Int -> Int
add3 a b c = a + b + c
{-# NOINLINE add3 #-}

apply1 :: (a -> b) -> a -> b
apply1 f x = f x
{-# NOINLINE apply1 #-}

main :: IO ()
main = do
  x <- evaluate (Just 'c')
  getClosureData x >>= putStrLn . kind
  r <- evaluate (Rec 1 2.5 3 "s")
  getClosureData r >>= putStrLn . kind
  getClosureData (1 :: Int, 'b', ()) >>= putStrLn . kind
  l <- evaluate [True]
  getClosureData l >>= putStrLn . kind
  let t = length (show l) + 1
  getClosureData t >>= putStrLn . kind
  n <- evaluate t
  print n
  p <- evaluate (apply1 add3 n)
  getClosureData p >>= putStrLn . kind
  getClosureData add3 >>= putStrLn . kind
  getClosureData (\y -> y + n) >>= putStrLn . kind
