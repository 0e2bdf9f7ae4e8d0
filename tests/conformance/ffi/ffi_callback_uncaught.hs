-- An exception that leaves a callback ends the program with its text.
-- c: ffi_nested_callbacks_c.c
import Control.Exception
import Foreign
import Foreign.C
import System.IO

foreign import ccall "wrapper" mkCb :: (CInt -> IO CInt) -> IO (FunPtr (CInt -> IO CInt))
foreign import ccall safe "bounce" bounce :: CInt -> FunPtr (CInt -> IO CInt) -> IO CInt

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  cb <- mkCb (\_ -> throwIO (userError "leaves the callback"))
  r <- try (bounce 3 cb)
  putStrLn (either (\e -> "caught outside: " ++ show (e :: SomeException)) show r)
