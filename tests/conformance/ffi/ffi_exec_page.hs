-- rts/ExecPage.h: a page for code is written, then run and no longer written, then gone.
-- ghc: -O
-- c: ffi_exec_page_c.c
foreign import ccall "try_page" tryPage :: IO ()

main :: IO ()
main = tryPage
