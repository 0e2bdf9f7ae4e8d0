-- hs_init is counted: the runtime stops at the last hs_exit.
-- ghc: -O -threaded -no-hs-main
-- c: ffi_c_main_init_twice_c.c
module Exported where

import Foreign.C

foreign export ccall triple :: CInt -> CInt

triple :: CInt -> CInt
triple n = n * 3
