-- Time limits around everything.
import Timeouts

main :: IO ()
main = limits
