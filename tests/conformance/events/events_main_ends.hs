-- The main thread ends while others wait for time, descriptors and transactions: the program ends at once, and
-- none of them goes on.
import BothWays

main :: IO ()
main = mainEnds
