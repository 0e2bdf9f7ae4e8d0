-- Haskell called from several C threads that the runtime never saw before.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_c_threads_c.c
module Exported where

import Control.Concurrent
import Control.Monad
import Foreign.C

foreign export ccall work :: CInt -> IO CInt
foreign export ccall bound :: IO CInt

work :: CInt -> IO CInt
work n = do
  v <- newEmptyMVar
  _ <- forkIO (putMVar v $! foldr (\a b -> (a * b) `mod` 10007) 1 [1 .. n])
  replicateM_ 3 yield
  takeMVar v

bound :: IO CInt
bound = (\b -> if b then 1 else 0) <$> isCurrentThreadBound
