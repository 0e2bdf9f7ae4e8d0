-- Foreign.Concurrent finalizers written in Haskell, order and once-only.
import Control.Concurrent
import Control.Monad
import Data.IORef
import Foreign
import qualified Foreign.Concurrent as FC
import System.Mem

main :: IO ()
main = do
  out <- newIORef []
  let note s = atomicModifyIORef' out (\l -> (s : l, ()))
  p <- malloc :: IO (Ptr Int)
  fp <- FC.newForeignPtr p (note "first")
  FC.addForeignPtrFinalizer fp (note "second")
  finalizeForeignPtr fp
  readIORef out >>= print
  forM_ [1 .. 5 :: Int] $ \i -> do
    q <- malloc :: IO (Ptr Int)
    f <- FC.newForeignPtr q (note ("q" ++ show i))
    withForeignPtr f (`poke` i)
  let wait k = do
        performMajorGC
        n <- length <$> readIORef out
        when (n < 7 && k > (0 :: Int)) (threadDelay 1000 >> wait (k - 1))
  wait 200
  readIORef out >>= print . length
