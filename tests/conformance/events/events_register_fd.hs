-- Base's event manager: registerFd, one shot and many, both events, unregistered, closed, beside the usual waits.
import Control.Concurrent
import Control.Exception
import Control.Monad
import GHC.Conc (closeFdWith)
import GHC.Event hiding (closeFd)
import System.Posix.IO
import Waits

main :: IO ()
main = do
  manager <- getSystemEventManager
  case manager of
    Nothing -> putStrLn "no manager"
    Just m -> with m

with :: EventManager -> IO ()
with m = do
  out <- newChan
  let note s _ e = writeChan out (s ++ " " ++ show e)
      next = readChan out >>= putStrLn
  (r, w) <- createPipe
  -- One shot: once, though nothing was read.
  _ <- registerFd m (note "one shot") r evtRead OneShot
  _ <- fdWrite w "ab"
  next
  threadWaitRead r
  threadDelay 5000
  writeChan out "nothing more"
  next
  -- It is gone; the next one is answered at once.
  _ <- registerFd m (note "again") r evtRead OneShot
  next
  -- Many: again and again until it is read; here the callback reads.
  (r2, w2) <- createPipe
  key <- registerFd m (\_ e -> fdRead r2 1 >>= \(s, _) -> writeChan out (s ++ " " ++ show e)) r2 evtRead MultiShot
  _ <- fdWrite w2 "xyz"
  replicateM_ 3 next
  _ <- fdWrite w2 "!"
  next
  unregisterFd m key
  unregisterFd m key
  _ <- fdWrite w2 "?"
  threadWaitRead r2
  fdRead r2 10 >>= print
  -- Unregistered before anything came, with another that stays.
  (r3, w3) <- createPipe
  gone <- registerFd m (note "never") r3 evtRead OneShot
  _ <- registerFd m (note "stays") r3 evtRead OneShot
  unregisterFd m gone
  _ <- fdWrite w3 "x"
  next
  -- Both events; a callback beside a thread on the same descriptor, in the other direction, and in the same one.
  (a, b) <- socketPair
  _ <- registerFd m (note "write") a evtWrite OneShot
  next
  _ <- registerFd m (note "read") a evtRead OneShot
  thread <- spawn (threadWaitRead a)
  threadWaitWrite a
  _ <- fdWrite b "x"
  next
  report "thread" thread
  -- Closed with closeFdWith: the callback is told so, and so is the thread.
  (c, d) <- socketPair
  many <- newEmptyMVar
  _ <- registerFd m (\_ e -> void (tryPutMVar many (show e))) c evtRead MultiShot
  _ <- registerFd m (note "closed") c evtRead OneShot
  thread2 <- spawn (threadWaitRead c)
  closeFdWith closeFd c
  next
  takeMVar many >>= putStrLn
  report "thread" thread2
  -- The number again, by another descriptor.
  (r4, w4) <- createPipe
  _ <- registerFd m (note "reused") r4 evtRead OneShot
  waiter <- spawn (threadWaitRead r4)
  _ <- fdWrite w4 "n"
  next
  report "thread" waiter
  -- What cannot be registered.
  (try (void (registerFd m (note "bad") 9999 evtRead OneShot)) :: IO (Either IOException ())) >>= print
  -- Delays and waits go on.
  threadDelay 1000
  mapM_ closeNow [r, w, r2, w2, r3, w3, a, b, d, r4, w4]
  putStrLn "done"
