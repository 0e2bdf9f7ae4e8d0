-- A thunk that raises is re-raised at every demand, and others that depend on it raise too.
import Control.Exception
import Data.IORef
import System.IO.Unsafe

main :: IO ()
main = do
  n <- newIORef (0 :: Int)
  let bad = unsafePerformIO (modifyIORef n (+ 1)) `seq` (error "bad thunk" :: Int)
      dep = bad + 1
      pair = (dep, 42 :: Int)
  mapM_ (\i -> do
           r <- try (evaluate dep)
           putStrLn (show (i :: Int) ++ " " ++ either (\(ErrorCall m) -> m) show r)) [1 .. 3]
  print (snd pair)
  r <- try (evaluate (fst pair)) :: IO (Either ErrorCall Int)
  putStrLn (either (const "still bad") show r)
  let xs = [1, 2, error "third", 4] :: [Int]
  print (length xs)
  r1 <- try (print (sum xs)) :: IO (Either ErrorCall ())
  print r1
  print (xs !! 3)
