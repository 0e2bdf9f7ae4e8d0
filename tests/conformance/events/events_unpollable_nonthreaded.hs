-- Without OS threads: waits on files, /dev/null, which are always ready.
-- ghc: -O
import BothWays

main :: IO ()
main = unpollable
