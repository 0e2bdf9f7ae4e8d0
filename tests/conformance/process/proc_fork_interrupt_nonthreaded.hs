-- A child of forkProcess is interrupted as a program is, without OS threads.
-- ghc: -O
-- timeout: 60
-- skip-hecs: with -threaded a mask of signals is an OS thread's, and others take the signal
import ForkInterrupt
import System.Posix.Signals

main :: IO ()
main = do
  testAll
  blockSignals interrupts
  test "blocked by the parent" interrupt $ \ready go -> do
    blocked <- inSignalSet sigINT <$> getSignalMask
    print blocked
    ready >> go
    unblockSignals interrupts
    rest
  unblockSignals interrupts
  interrupted "parent" (raiseSignal sigINT >> rest)
  where interrupts = addSignal sigINT emptySignalSet
