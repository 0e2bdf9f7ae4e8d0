-- SIGTERM has its default action: death by signal 15, without flushing.
import System.IO
import Control.Concurrent
import System.Posix.Signals
main :: IO ()
main = putStrLn "flushed" >> hFlush stdout >> raiseSignal sigTERM >> threadDelay 100000000
