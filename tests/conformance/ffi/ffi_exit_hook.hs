-- The exit hook of a C file runs when main has ended, before what Haskell has buffered is written.
-- c: ffi_exit_hook_c.c
import System.IO

main :: IO ()
main = hSetBuffering stdout (BlockBuffering Nothing) >> putStrLn "main"
