-- The same in a dynamic program.
-- skip-order: it wastes real time
-- ghc: -O -threaded -dynamic
import Timeouts

main :: IO ()
main = limits
