-- threadWaitReadSTM, threadWaitWriteSTM: ready before and later, together with a delay, cancelled, and closed.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  -- Not ready: the transaction retries; then ready, and it stays so.
  (wait, cancel) <- threadWaitReadSTM r
  let now = atomically ((wait >> return "ready") `orElse` return "not yet")
  now >>= putStrLn
  waiting <- spawn (atomically wait)
  _ <- fdWrite w "ab"
  report "waiter" waiting
  atomically wait
  now >>= putStrLn
  _ <- fdRead r 2
  now >>= putStrLn
  cancel
  cancel
  -- Ready when it is registered.
  (wait2, cancel2) <- threadWaitWriteSTM w
  atomically wait2
  cancel2
  -- One that is registered again, after half of the bytes.
  _ <- fdWrite w "xy"
  forM_ [1, 2 :: Int] $ \_ -> do
    (again, _) <- threadWaitReadSTM r
    atomically again
    fdRead r 1 >>= print
  -- The first of a delay and a descriptor, both ways round.
  (wait3, cancel3) <- threadWaitReadSTM r
  short <- registerDelay 10000
  atomically ((wait3 >> return "bytes") `orElse` (readTVar short >>= check >> return "time")) >>= putStrLn
  long <- registerDelay 100000000
  _ <- forkIO (threadDelay 5000 >> void (fdWrite w "later"))
  atomically ((wait3 >> return "bytes") `orElse` (readTVar long >>= check >> return "time")) >>= putStrLn
  cancel3
  _ <- fdRead r 100
  -- Cancelled: never ready, though bytes come; others on the descriptor still are.
  (wait4, cancel4) <- threadWaitReadSTM r
  (wait5, _) <- threadWaitReadSTM r
  other <- spawn (threadWaitRead r)
  cancel4
  _ <- fdWrite w "z"
  report "beside a cancelled one" other
  atomically wait5
  atomically ((wait4 >> return "ready") `orElse` return "cancelled, never ready") >>= putStrLn
  _ <- fdRead r 100
  -- Several waiters of one registration; two descriptors in one transaction.
  (r2, w2) <- createPipe
  (wait6, _) <- threadWaitReadSTM r
  (wait7, cancel7) <- threadWaitReadSTM r2
  ws <- forM [1 .. 3 :: Int] $ \_ -> spawn (atomically ((wait6 >> return 'a') `orElse` (wait7 >> return 'b')))
  _ <- fdWrite w "1"
  mapM_ (report "either") ws
  cancel7
  _ <- fdRead r 100
  -- Closed: the transaction raises what threadWaitRead does, each time.
  (wait8, cancel8) <- threadWaitReadSTM r
  closed <- spawn (atomically wait8)
  closeNow r
  report "closed" closed
  (try (atomically wait8) :: IO (Either IOException ())) >>= print
  cancel8
  (try (void (threadWaitReadSTM r)) :: IO (Either IOException ())) >>= print
  mapM_ closeNow [w, r2, w2]
