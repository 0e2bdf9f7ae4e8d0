-- threadDelay: 0, negative, tiny and endless ones, their order, and that none ends early.
import BothWays

main :: IO ()
main = delays
