-- Haskell calls C, which calls Haskell, which calls C ..., forty levels deep, with collections and threads in between.
-- c: ffi_nested_callbacks_c.c
import Control.Concurrent
import Control.Monad
import Foreign
import Foreign.C
import System.Mem

foreign import ccall "wrapper" mkCb :: (CInt -> IO CInt) -> IO (FunPtr (CInt -> IO CInt))
foreign import ccall safe "bounce" bounce :: CInt -> FunPtr (CInt -> IO CInt) -> IO CInt

main :: IO ()
main = do
  mv <- newEmptyMVar
  let step :: CInt -> IO CInt
      step 0 = return 1
      step n = do
        cb <- mkCb step
        let live = [n .. n + 100]
        when (n `mod` 10 == 0) performMajorGC
        when (n `mod` 7 == 0) (forkIO (putMVar mv ()) >> takeMVar mv)
        r <- bounce (n - 1) cb
        freeHaskellFunPtr cb
        return (r + sum live `mod` 13)
  step 40 >>= print
  -- The same in several Haskell threads at once.
  outs <- forM [1 .. 4] $ \k -> do { v <- newEmptyMVar; _ <- forkIO (step (10 + k) >>= putMVar v); return v }
  mapM takeMVar outs >>= print
