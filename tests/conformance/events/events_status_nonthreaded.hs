-- What threadStatus says of waiting threads, without OS threads.
-- ghc: -O
import BothWays

main :: IO ()
main = statuses
