-- Many large boxed and unboxed arrays, some kept and some dropped, contents verified after collections.
import Control.Monad
import Data.Array
import Data.Array.Unboxed (UArray)
import qualified Data.Array.Unboxed as U
import System.Mem

main :: IO ()
main = do
  let boxed = [ listArray (0, 2000) [ i + j | j <- [0 ..] ] | i <- [1 .. 60] ] :: [Array Int Int]
      flat = [ U.listArray (0, 5000) [ i * j | j <- [0 ..] ] | i <- [1 .. 60] ] :: [UArray Int Int]
      kept = [ a | (a, i) <- zip boxed [1 :: Int ..], even i ]
  print (sum (map (! 2000) boxed))
  print (sum (map (U.! 5000) flat))
  performMajorGC
  print (sum (map (! 77) kept))
  forM_ [1 .. 300 :: Int] $ \i -> do
    let a = U.listArray (0, 3000 + i) [i ..] :: UArray Int Int
    when (a U.! 3000 /= i + 3000) (putStrLn "corrupt")
  performMajorGC
  print (sum (map (sum . elems) kept), sum (map (sum . U.elems) (take 7 flat)))
