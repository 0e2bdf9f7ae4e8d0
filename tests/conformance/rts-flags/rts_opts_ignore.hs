-- Linked with -rtsopts=ignore: +RTS goes to the program.
-- rtsopts: ignore
-- args: a +RTS -A64k -RTS b
import System.Environment
main :: IO ()
main = getArgs >>= print
