-- StablePtr and FunPtr freed from C through hs_free_stable_ptr and hs_free_fun_ptr.
-- c: ffi_free_fun_ptr_c.c
import Foreign
import Foreign.C
import System.Mem

foreign import ccall "wrapper" mkCb :: (CInt -> IO CInt) -> IO (FunPtr (CInt -> IO CInt))
foreign import ccall safe "call_and_free" callAndFree :: CInt -> FunPtr (CInt -> IO CInt) -> IO CInt
foreign import ccall safe "drop_stable" dropStable :: StablePtr a -> IO ()

main :: IO ()
main = do
  rs <- mapM (\k -> mkCb (return . (* k)) >>= callAndFree 10) [1 .. 100]
  print (sum rs)
  mapM_ (\i -> newStablePtr (Just i) >>= dropStable) [1 .. 100 :: Int]
  performMajorGC
  sp <- newStablePtr "kept"
  deRefStablePtr sp >>= putStrLn
