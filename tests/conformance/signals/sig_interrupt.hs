-- SIGINT becomes UserInterrupt in main, which can be caught in a delay.
import Control.Concurrent
import Control.Exception
import System.Posix.Signals

main :: IO ()
main = do
  r <- try (raiseSignal sigINT >> threadDelay 100000000)
  print (r :: Either AsyncException ())
