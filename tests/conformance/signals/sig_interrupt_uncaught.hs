-- An uncaught SIGINT: the program ends as killed by that signal.
import Control.Concurrent
import System.IO
import System.Posix.Signals
main :: IO ()
main = putStrLn "waiting" >> hFlush stdout >> raiseSignal sigINT >> threadDelay 100000000 >> putStrLn "not reached"
