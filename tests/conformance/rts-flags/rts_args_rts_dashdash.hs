-- -- inside the runtime options.
-- args: a +RTS -A64k -- b +RTS c
import System.Environment
main :: IO ()
main = getArgs >>= print
