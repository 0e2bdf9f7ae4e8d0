-- What threadStatus says of threads that wait for time, descriptors and both.
import BothWays

main :: IO ()
main = statuses
