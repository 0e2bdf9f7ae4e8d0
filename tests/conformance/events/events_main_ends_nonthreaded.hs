-- Without OS threads, the main thread ends while others wait for time and descriptors.
-- ghc: -O
import BothWays

main :: IO ()
main = mainEnds
