-- The same without -threaded.
-- ghc: -O
import Timeouts

main :: IO ()
main = limits
