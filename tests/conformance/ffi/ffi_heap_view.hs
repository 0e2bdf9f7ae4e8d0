-- The headers' functions that look at closures: their sizes, info tables, types' flags and pointers.
-- ghc: -O0
-- c: ffi_heap_view_c.c
import Control.Exception
import Foreign.StablePtr
import System.Mem

foreign import ccall safe "look" look :: Int -> StablePtr () -> IO ()
foreign import ccall safe "look_at_tables" lookAtTables :: IO ()

data Shape = Shape Int !Int [Shape] | Plain

lookAt :: Int -> a -> IO ()
lookAt what x = do
  p <- newStablePtr x
  look what (castPtrToStablePtr (castStablePtrToPtr p))
  freeStablePtr p

partial :: Int -> Int -> [Shape] -> Shape -> Shape
partial a b c d = Shape (a + b) b (d : c)

-- What is unknown where it is called makes a partial application.
applied :: (a -> b -> c -> d) -> a -> b -> c -> d
applied f a b c = f a b c
{-# NOINLINE applied #-}

main :: IO ()
main = do
  lookAtTables
  n <- evaluate (read "3")
  shape <- evaluate (Shape n n [Plain])
  lookAt 0 shape
  plain <- evaluate Plain
  lookAt 1 plain
  lookAt 2 (product [1 .. n])
  some <- evaluate (applied partial n n [shape])
  lookAt 3 some
  lookAt 4 (\m -> m + n)
  lookAt 5 [n]
  performMajorGC
  lookAt 6 shape
  lookAt 7 some
  putStrLn (case some plain of Shape a _ c -> show (a, length c); Plain -> "plain")
