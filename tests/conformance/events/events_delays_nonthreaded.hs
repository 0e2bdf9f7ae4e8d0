-- threadDelay without OS threads: 0, negative, tiny and endless ones, their order, and that none ends early.
-- ghc: -O
import BothWays

main :: IO ()
main = delays
