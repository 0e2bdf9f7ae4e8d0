-- The same without -threaded.
-- skip-order: it wastes real time
-- ghc: -O
import Timeouts

main :: IO ()
main = limits
