-- Linked with -rtsopts=ignoreAll: +RTS goes to the program and GHCRTS is not read.
-- rtsopts: ignoreAll
-- args: a +RTS --bogus -RTS b
-- env: GHCRTS=--bogus
import System.Environment
main :: IO ()
main = getArgs >>= print
