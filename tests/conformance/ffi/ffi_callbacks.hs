-- Wrappers: Haskell functions called from C, with state, as sort comparators, freed, and many at once.
-- c: ffi_callbacks_c.c
import Control.Monad
import Data.IORef
import Foreign
import Foreign.C
import System.Mem

type Cmp = Ptr CInt -> Ptr CInt -> IO CInt
foreign import ccall "wrapper" mkCmp :: Cmp -> IO (FunPtr Cmp)
foreign import ccall safe "stdlib.h qsort" qsort :: Ptr CInt -> CSize -> CSize -> FunPtr Cmp -> IO ()
foreign import ccall "wrapper" mkFold :: (CInt -> CDouble -> IO CDouble) -> IO (FunPtr (CInt -> CDouble -> IO CDouble))
foreign import ccall safe "fold_range" foldRange :: CInt -> CDouble -> FunPtr (CInt -> CDouble -> IO CDouble) -> IO CDouble
foreign import ccall "wrapper" mkPure :: (CInt -> CInt) -> IO (FunPtr (CInt -> CInt))
foreign import ccall "dynamic" callPure :: FunPtr (CInt -> CInt) -> CInt -> CInt
type Many = Int8 -> Word16 -> CInt -> Int64 -> Float -> Double -> Word8 -> Double -> Int -> Float -> IO Double
foreign import ccall "wrapper" mkMany :: Many -> IO (FunPtr Many)
foreign import ccall safe "call_many" callMany :: FunPtr Many -> IO Double
foreign import ccall "wrapper" mkUnit :: IO () -> IO (FunPtr (IO ()))
foreign import ccall safe "repeat_call" repeatCall :: CInt -> FunPtr (IO ()) -> IO ()

main :: IO ()
main = do
  calls <- newIORef (0 :: Int)
  cmp <- mkCmp (\a b -> do { x <- peek a; y <- peek b; modifyIORef' calls (+ 1); return (fromIntegral (fromEnum (compare x y) - 1)) })
  withArrayLen [ (i * 7919) `mod` 101 | i <- [1 .. 50] ] $ \n p -> do
    qsort p (fromIntegral n) 4 cmp
    xs <- peekArray n p
    print (xs, and (zipWith (<=) xs (tail xs)))
  readIORef calls >>= print . (> 50)
  freeHaskellFunPtr cmp
  f <- mkFold (\i acc -> when (i == 500) performMajorGC >> return (acc * 0.5 + fromIntegral i))
  foldRange 1000 0 f >>= print
  fs <- forM [1 .. 200] (\k -> mkPure (\n -> n * k + 1))
  performMajorGC
  print (sum (zipWith callPure fs [1 ..]))
  mapM_ freeHaskellFunPtr fs
  m <- mkMany (\a b c d e g h i j k -> return (fromIntegral a + 2 * fromIntegral b + 3 * fromIntegral c + 4 * fromIntegral d + 5 * realToFrac e + 6 * g + 7 * fromIntegral h + 8 * i + 9 * fromIntegral j + 10 * realToFrac k))
  callMany m >>= print
  n <- newIORef (0 :: Int)
  u <- mkUnit (modifyIORef' n (+ 1))
  repeatCall 2000 u
  readIORef n >>= print
