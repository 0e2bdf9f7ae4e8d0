-- The same in a dynamic program.
-- ghc: -O -threaded -dynamic
import Timeouts

main :: IO ()
main = limits
