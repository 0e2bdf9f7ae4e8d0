-- Stable names are equal for the same object across collections and evaluation moves, and differ for different objects.
import System.Mem
import System.Mem.StableName
import Data.IORef
import Control.Monad

main :: IO ()
main = do
  objs <- forM [1 .. 500 :: Int] newIORef
  names <- mapM makeStableName objs
  performMinorGC
  names2 <- mapM makeStableName objs
  print (names == names2)
  performMajorGC
  performMajorGC
  names3 <- mapM makeStableName objs
  print (names == names3, map hashStableName names == map hashStableName names3)
  print (and [ a /= b | (a, b) <- zip names (tail names3) ])
  let f = (+ 1) :: Int -> Int
  a <- makeStableName f
  b <- makeStableName f
  print (a == b, eqStableName a (head names))
  -- Names of dead objects are reused only after the name itself is gone.
  forM_ [1 .. 20 :: Int] $ \_ -> do
    os <- forM [1 .. 200 :: Int] newIORef
    ns <- mapM makeStableName os
    when (length ns /= 200) (putStrLn "never")
    performMinorGC
  names4 <- mapM makeStableName objs
  print (names4 == names)
  mapM readIORef objs >>= print . sum
