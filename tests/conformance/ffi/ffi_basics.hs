-- Foreign calls: unsafe, safe, interruptible and pure, with every argument type and more arguments than registers.
-- c: ffi_basics_c.c
{-# LANGUAGE CApiFFI, InterruptibleFFI #-}
import Data.Int
import Data.Word
import Foreign
import Foreign.C

foreign import ccall unsafe "mix_ints" mixInts :: Int8 -> Int16 -> Int32 -> Int64 -> Word8 -> Word16 -> Word32 -> Word64 -> Int64
foreign import ccall safe "mix_ints" mixIntsSafe :: Int8 -> Int16 -> Int32 -> Int64 -> Word8 -> Word16 -> Word32 -> Word64 -> IO Int64
foreign import ccall unsafe "mix_floats" mixFloats :: Double -> Float -> Double -> Int -> Double -> Float -> Double -> Double -> Double -> Double -> Double -> Int -> Double
foreign import ccall safe "mix_floats" mixFloatsSafe :: Double -> Float -> Double -> Int -> Double -> Float -> Double -> Double -> Double -> Double -> Double -> Int -> IO Double
foreign import ccall interruptible "twice" twiceI :: CInt -> IO CInt
foreign import ccall unsafe "fill" fill :: Ptr Word8 -> CSize -> Word8 -> IO ()
foreign import ccall unsafe "neg8" neg8 :: Int8 -> Int8
foreign import ccall safe "is_odd" isOdd :: CInt -> IO CBool
foreign import ccall "math.h sin" csin :: Double -> Double
foreign import capi "stdlib.h abs" cabs :: CInt -> CInt
foreign import ccall "&counter" counter :: Ptr CInt
foreign import ccall "&twice" twicePtr :: FunPtr (CInt -> IO CInt)
foreign import ccall "dynamic" callInt :: FunPtr (CInt -> IO CInt) -> CInt -> IO CInt

main :: IO ()
main = do
  print (mixInts (-1) 2 (-3) 4 255 65535 4294967295 7)
  mixIntsSafe 1 (-2) 3 (-4) 5 6 7 8 >>= print
  print (mixFloats 1 2 3 4 5 6 7 8 9 10 11 12)
  mixFloatsSafe 1.5 2 3 4 5 6 7 8 9 10 11 (-12) >>= print
  twiceI 21 >>= print
  allocaBytes 10 $ \p -> fill p 10 7 >> peekArray 10 p >>= print
  print (neg8 (-128), neg8 5)
  mapM isOdd [1, 2] >>= print
  print (csin 0.5, cabs (-9))
  peek counter >>= print
  callInt twicePtr 8 >>= print
  peek counter >>= print
  withCString "passed" (\s -> newCStringLen "xyz" >>= \(q, n) -> (,) <$> peekCString s <*> peekCStringLen (q, n)) >>= print
