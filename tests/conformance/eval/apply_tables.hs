-- The bitmaps of all canned types of arguments, and the layouts of all frames and thunks for applications and
-- selections, are the stock runtime's.
-- ghc: -O
-- c: apply_tables_c.c
module Main (main) where

foreign import ccall "apply_tables" tables :: IO ()

main :: IO ()
main = tables
