-- A child of forkProcess is interrupted as a program is: SIGINT becomes UserInterrupt in its own main thread, whatever
-- its parent does with it, a second one ends it, and so does one that is not caught.
-- timeout: 60
import Control.Concurrent
import ForkInterrupt
import System.Posix.Signals

main :: IO ()
main = do
  testAll
  done <- newEmptyMVar
  _ <- forkOS (test "forked by a bound thread" interrupt (\ready _ -> interrupted "main" (ready >> rest)) >> putMVar done ())
  takeMVar done
  interrupted "parent" (raiseSignal sigINT >> rest)
