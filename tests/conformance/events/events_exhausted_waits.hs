-- No descriptor is left when a program first waits for those that it has: waits are answered, a close wakes its waiter,
-- a number that is not open is an error, and the program goes on when it has descriptors again.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import System.IO.Error
import System.Posix.IO
import System.Posix.Resource
import System.Posix.Types (Fd)
import System.Timeout
import Ticker
import Waits

main :: IO ()
main = do
  awaitTicker
  (r, w) <- createPipe
  (r2, w2) <- createPipe
  limits <- getResourceLimit ResourceOpenFiles
  setResourceLimit ResourceOpenFiles limits {softLimit = ResourceLimit 100}
  let hoard fds = (try (dup r) :: IO (Either IOException Fd)) >>= either (\e -> return (fds, e)) (hoard . (: fds))
  (fds, full) <- hoard []
  print (isFullError full)
  reader <- spawn (threadWaitRead r)
  threadWaitWrite w
  _ <- fdWrite w "x"
  report "reader" reader
  timeout 5000 (threadWaitRead r2) >>= print
  (wait, _) <- threadWaitReadSTM r
  atomically wait
  waiting <- spawn (threadWaitRead r2)
  (waitClosed, _) <- threadWaitReadSTM r2
  closeNow r2
  report "closed" waiting
  spawn (atomically waitClosed) >>= report "closed, STM"
  -- The number is free, and is used up again.
  number <- dup r
  print (number == r2)
  spawn (threadWaitRead number) >>= report "the number again"
  closeNow number
  spawn (threadWaitRead number) >>= report "not open"
  spawn (threadWaitWrite 100000000) >>= report "never open"
  mapM_ closeNow fds
  (r3, w3) <- createPipe
  end <- spawn (threadWaitRead r3)
  _ <- fdWrite w3 "x"
  report "in the end" end
  mapM_ closeNow [r, w, w2, r3, w3]
