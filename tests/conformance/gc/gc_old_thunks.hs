-- Old unevaluated thunks updated with young values: the update must be remembered.
import Control.Monad
import System.Mem
import Data.IORef

main :: IO ()
main = do
  n <- newIORef (1 :: Int)
  k <- readIORef n
  let thunks = [ [k * i .. k * i + 5] | i <- [1 .. 5000] ] :: [[Int]]
  print (length thunks)
  performMajorGC
  performMajorGC
  forM_ (zip [0 :: Int ..] thunks) $ \(i, t) -> do
    when (i `mod` 3 == 0) (writeIORef n $! sum t)
    when (i `mod` 500 == 0) performMinorGC
  performMinorGC
  print (sum (map sum thunks))
  performMajorGC
  print (sum (map length thunks), sum (map last thunks))
