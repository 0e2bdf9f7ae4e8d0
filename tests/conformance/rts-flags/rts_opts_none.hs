-- Linked with -rtsopts=none: runtime options are refused.
-- rtsopts: none
-- args: a +RTS -A64k -RTS b
import System.Environment
main :: IO ()
main = getArgs >>= print
