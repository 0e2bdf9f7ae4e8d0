-- Without OS threads: no bound threads, forkOS fails with its text, safe calls and callbacks still work.
-- ghc: -O
-- c: ffi_nested_callbacks_c.c
import Control.Concurrent
import Control.Exception
import Foreign
import Foreign.C

foreign import ccall "wrapper" mkCb :: (CInt -> IO CInt) -> IO (FunPtr (CInt -> IO CInt))
foreign import ccall safe "bounce" bounce :: CInt -> FunPtr (CInt -> IO CInt) -> IO CInt

main :: IO ()
main = do
  print rtsSupportsBoundThreads
  isCurrentThreadBound >>= print
  r <- try (forkOS (return ()))
  putStrLn (either (\e -> "refused: " ++ takeWhile (/= '\n') (show (e :: SomeException))) (const "forked") r)
  cb <- mkCb (\n -> do { v <- newEmptyMVar; _ <- forkIO (putMVar v (n * 3)); takeMVar v })
  bounce 7 cb >>= print
