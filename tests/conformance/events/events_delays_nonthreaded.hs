-- threadDelay without OS threads: 0, negative, tiny and endless ones, their order, and that none ends early.
-- skip-order: it measures time, which is virtual
-- ghc: -O
import BothWays

main :: IO ()
main = delays
