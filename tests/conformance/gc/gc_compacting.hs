-- The oldest generation compacted in place (-c), with data of every shape alive.
-- args: +RTS -c -A128k -RTS
import qualified Data.Map as M
import Data.Array
import Data.IORef
import System.Mem
import System.Mem.StableName
import Control.Monad

main :: IO ()
main = do
  let m = M.fromList [ (show i, [i .. i + 3]) | i <- [1 .. 4000 :: Int] ]
      a = listArray (0, 3000) [ i * i | i <- [0 ..] ] :: Array Int Integer
  r <- newIORef [m]
  sn <- makeStableName r
  forM_ [1 .. 5 :: Int] $ \i -> do
    modifyIORef r (\(x : _) -> [M.insert ("k" ++ show i) [i] x])
    performMajorGC
  [m'] <- readIORef r
  sn' <- makeStableName r
  print (M.size m', sum (concat (M.elems m')), sum (elems a), sn == sn')
