-- Collections of everything under the debug flavour without threads.
-- ghc: -O0 -debug
-- args: +RTS -A64k -G3 -RTS
import Data.Array
import Data.IORef
import qualified Data.Map as M
import System.Mem

main :: IO ()
main = do
  r <- newIORef M.empty
  mapM_ (\i -> modifyIORef' r (M.insertWith (++) (i `mod` 50) [i])) [1 .. 3000 :: Int]
  performMajorGC
  m <- readIORef r
  print (M.size m, sum (map sum (M.elems m)))
  let a = listArray (0, 3000) [ [i, i + 1] | i <- [0 ..] ] :: Array Int [Int]
  performMinorGC
  print (sum (map sum (elems a)))
