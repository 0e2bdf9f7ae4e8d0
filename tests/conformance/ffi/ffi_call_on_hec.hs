-- C chooses the HEC on which its calls into Haskell begin, by rts_setInCallCapability, for each OS thread, modulo the
-- number of HECs.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_call_on_hec_c.c
module Exported where

import Control.Concurrent

foreign export ccall "hs_hec" hec :: IO Int
foreign export ccall "hs_set_hecs" setNumCapabilities :: Int -> IO ()

hec :: IO Int
hec = myThreadId >>= fmap fst . threadCapability
