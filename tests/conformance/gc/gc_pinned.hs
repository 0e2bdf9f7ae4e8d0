-- Thousands of pinned buffers of mixed sizes with patterns in them: they neither move nor are reused while referenced.
import Control.Monad
import Data.Word
import Foreign
import Foreign.ForeignPtr.Unsafe
import System.Mem

main :: IO ()
main = do
  bufs <- forM [1 .. 3000 :: Int] $ \i -> do
    let size = 1 + (i * 37) `mod` 300 + if i `mod` 200 == 0 then 20000 else 0
    fp <- mallocForeignPtrBytes size :: IO (ForeignPtr Word8)
    withForeignPtr fp $ \p -> forM_ [0 .. size - 1] $ \k -> pokeByteOff p k (fromIntegral (i + k) :: Word8)
    return (fp, size, i, unsafeForeignPtrToPtr fp)
  let keep = [ b | b@(_, _, i, _) <- bufs, i `mod` 3 == 0 ]
      verify bs = fmap and $ forM bs $ \(fp, size, i, addr) -> withForeignPtr fp $ \p -> do
        ok <- forM [0, 7 .. size - 1] $ \k -> (== (fromIntegral (i + k) :: Word8)) <$> peekByteOff p k
        return (and ok && p == addr)
  verify bufs >>= print
  performMajorGC
  verify keep >>= print
  more <- forM [1 .. 2000 :: Int] $ \i -> do
    fp <- mallocForeignPtrArray 20 :: IO (ForeignPtr Word8)
    withForeignPtr fp $ \p -> forM_ [0 .. 19] $ \k -> pokeElemOff p k (fromIntegral (i + k))
    return (fp, 20, i, unsafeForeignPtrToPtr fp)
  performMinorGC
  verify keep >>= print
  verify more >>= print
  fp16 <- mallocForeignPtrBytes 64 :: IO (ForeignPtr Double)
  print (alignPtr (unsafeForeignPtrToPtr fp16) 16 == unsafeForeignPtrToPtr fp16)
  touchForeignPtr fp16
  allocaBytesAligned 100 64 $ \p -> print (alignPtr p 64 == (p :: Ptr Word8))
  print (sum [ s | (_, s, _, _) <- keep ])
