-- Exceptions raised and handled inside a callback stay there; later calls work.
-- c: ffi_nested_callbacks_c.c
import Control.Exception
import Control.Concurrent
import Foreign
import Foreign.C

foreign import ccall "wrapper" mkCb :: (CInt -> IO CInt) -> IO (FunPtr (CInt -> IO CInt))
foreign import ccall safe "bounce" bounce :: CInt -> FunPtr (CInt -> IO CInt) -> IO CInt

main :: IO ()
main = do
  cb <- mkCb (\n -> evaluate (100 `div` n) `catch` \e -> print (e :: ArithException) >> return (-1))
  mapM (`bounce` cb) [5, 0, 4] >>= print
  m <- newEmptyMVar
  cb2 <- mkCb (\n -> (if n == 0 then throwIO (userError "inside") else return n) `finally` putMVar m n
                     `catch` \e -> print (e :: IOException) >> return 0)
  r <- bounce 3 cb2
  takeMVar m >>= print
  print r
  state <- mask_ (bounce 1 =<< mkCb (\_ -> getMaskingState >>= print >> return 9))
  print state
  state2 <- bounce 1 =<< mkCb (\_ -> getMaskingState >>= print >> return 8)
  print state2
