{-# LANGUAGE BangPatterns #-}
-- A thunk that has been evaluated has the stable name of its value, before a collection as after it.
import Control.Exception
import System.Mem
import System.Mem.StableName

data Pair = Pair [Int] ()

make :: Int -> Pair
make n = Pair (map (+ n) [1 .. 10]) ()
{-# NOINLINE make #-}

main :: IO ()
main = do
  let !(Pair thunk _) = make 5
  value <- evaluate thunk
  a <- makeStableName thunk
  b <- makeStableName value
  print (a == b)
  performMajorGC
  c <- makeStableName thunk
  print (a == c, hashStableName a == hashStableName c)
  print (sum value)
