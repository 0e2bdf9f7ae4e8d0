-- Arguments in UTF-8 and arguments that are not.
-- args: λx →∀ plain
import System.Environment
main :: IO ()
main = getArgs >>= print
