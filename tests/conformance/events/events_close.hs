-- closeFdWith under readers, writers and STM waiters, under none, twice, with an action that fails, and what they see.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import GHC.Conc (closeFdWith)
import System.IO.Error
import System.Posix.IO
import Waits

fields :: IOException -> String
fields e = show (ioeGetErrorType e, ioeGetErrorString e, ioeGetLocation e, ioeGetFileName e)

main :: IO ()
main = do
  -- Readers and writers of a socket, and an STM waiter.
  (a, b) <- socketPair
  _ <- fill a
  readers <- replicateM 3 (spawn (threadWaitRead a))
  writers <- replicateM 3 (spawn (threadWaitWrite a))
  (wait, _) <- threadWaitReadSTM a
  (wait2, _) <- threadWaitWriteSTM a
  stm <- spawn (atomically (wait `orElse` wait2))
  closeFdWith closeFd a
  mapM_ (report "reader") readers
  mapM_ (report "writer") writers
  report "stm" stm
  -- The other end: its file has ended, with what was written before.
  threadWaitRead b
  fdRead b 5 >>= print
  closeFdWith closeFd b
  -- The fields of the exception.
  (r, w) <- createPipe
  closed <- spawn (try (threadWaitRead r) >>= either (return . fields) (const (return "woken")))
  closeFdWith closeFd r
  report "fields" closed
  -- The number is not open any more.
  forM_ [threadWaitRead r, threadWaitWrite r] $ \wt -> (try wt :: IO (Either IOException ())) >>= print
  -- A writer of a pipe whose reader is gone is ready.
  threadWaitWrite w
  closeFdWith closeFd w
  -- With an action that fails, or does nothing: the waiters are woken before it runs.
  (r2, w2) <- createPipe
  waiter <- spawn (threadWaitRead r2)
  (try (closeFdWith (\_ -> throwIO (userError "will not")) r2) :: IO (Either IOException ())) >>= print
  report "its waiter" waiter
  waiter2 <- spawn (threadWaitRead r2)
  closeFdWith (const (return ())) r2
  report "of an action that does nothing" waiter2
  -- The descriptor is open, and a new wait works.
  waiter3 <- spawn (threadWaitRead r2 >> fdRead r2 10)
  _ <- fdWrite w2 "open"
  report "open still" waiter3
  -- The action gets the descriptor, runs masked, and is not called twice.
  calls <- newMVar (0 :: Int)
  flip closeFdWith r2 $ \fd -> do
    modifyMVar_ calls (return . (+ 1))
    print (fd == r2)
    getMaskingState >>= print
    closeFd fd
  readMVar calls >>= print
  -- A waiter that closes itself what others wait for; and one that was answered before it was closed.
  (r3, w3) <- createPipe
  others <- replicateM 2 (spawn (threadWaitRead r3))
  _ <- fdWrite w3 "x"
  mapM_ (report "answered") others
  closeFdWith closeFd r3
  -- Many times in a row.
  rs <- forM [1 .. 50 :: Int] $ \_ -> do
    (p, q) <- createPipe
    t <- spawn (threadWaitRead p)
    closeFdWith closeFd p
    closeFdWith closeFd q
    outcome t
  print (length (filter (/= "()") rs))
  mapM_ (closeFdWith closeFd) [w2, w3]
