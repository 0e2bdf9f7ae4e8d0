-- Without OS threads, handlers of signals run while the main thread waits for time, a descriptor, an MVar and a call.
-- ghc: -O
import BothWays

main :: IO ()
main = signals
