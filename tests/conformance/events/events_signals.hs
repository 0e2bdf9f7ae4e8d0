-- Handlers of signals run while the main thread waits for time, a descriptor, an MVar, a transaction, and a call.
import BothWays

main :: IO ()
main = signals
