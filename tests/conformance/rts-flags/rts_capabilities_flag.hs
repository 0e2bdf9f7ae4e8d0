-- -N1 gives one capability.
-- args: +RTS -N1 -RTS
import Control.Concurrent
import GHC.Conc (getNumProcessors)
main :: IO ()
main = getNumCapabilities >>= print >> getNumProcessors >>= print . (>= 1)
