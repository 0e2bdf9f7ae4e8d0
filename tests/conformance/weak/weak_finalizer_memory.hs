-- A C finalizer may look at the memory that mallocForeignPtr gave its pointer: that is kept until the finalizer has
-- run.
import Control.Monad
import Foreign
import Foreign.C
import System.Mem

foreign import ccall "&puts" printLine :: FunPtr (Ptr CChar -> IO ())

main :: IO ()
main = do
  forM_ [10, 5000, 3000000] $ \size -> do
    forM_ [1 .. 20 :: Int] $ \_ -> do
      p <- mallocForeignPtrBytes (size + 10) :: IO (ForeignPtr CChar)
      withForeignPtr p $ \q -> pokeArray0 0 q (map (fromIntegral . fromEnum) "as it was")
      addForeignPtrFinalizer printLine p
    performGC
