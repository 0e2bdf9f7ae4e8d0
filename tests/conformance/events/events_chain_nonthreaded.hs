-- Without OS threads, a byte through a chain of 100 pipes, each with a thread that waits; several bytes at once, too.
-- ghc: -O
import BothWays

main :: IO ()
main = chain 100
