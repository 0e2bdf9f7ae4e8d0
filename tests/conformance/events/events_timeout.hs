-- Time limits around everything.
-- skip-order: it wastes real time
import Timeouts

main :: IO ()
main = limits
