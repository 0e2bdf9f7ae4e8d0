-- After -- nothing is a runtime option.
-- args: a -- +RTS -A64k -RTS b
import System.Environment
main :: IO ()
main = getArgs >>= print
