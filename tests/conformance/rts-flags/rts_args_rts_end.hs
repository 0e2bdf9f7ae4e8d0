-- --RTS ends the search: what follows goes to the program untouched.
-- args: a +RTS -A64k --RTS b +RTS -x -RTS c
import System.Environment
main :: IO ()
main = getArgs >>= print
