-- A single generation (every collection is a full one).
-- args: +RTS -G1 -A256k -RTS
import qualified Data.Map.Strict as M
import Data.IORef
import Control.Monad

main :: IO ()
main = do
  r <- newIORef M.empty
  forM_ [1 .. 20000 :: Int] $ \i -> modifyIORef' r (M.insertWith (++) (i `mod` 97) [i])
  m <- readIORef r
  print (M.size m, sum (map length (M.elems m)), M.lookupMin (M.map head m))
