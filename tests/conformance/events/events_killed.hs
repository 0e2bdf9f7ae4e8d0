-- Waiting threads are killed: in delays and waits, masked ones, one of several; and waits that cannot be interrupted.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import System.Mem
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  _ <- fill w
  (r2, w2) <- createPipe
  -- Each kind of wait.
  let waits = [("delay", threadDelay 100000000), ("read", threadWaitRead r2), ("write", threadWaitWrite w)]
  forM_ waits $ \(what, wait) -> do
    t <- spawn wait
    killThread (fst t)
    report what t
    -- Masked, it can be interrupted, too; the handler may wait itself.
    t2 <- spawn (mask_ (wait `catch` \e -> threadDelay 1000 >> throwIO (e :: AsyncException)))
    throwTo (fst t2) UserInterrupt
    report (what ++ ", masked") t2
    -- The exception is caught, and the thread waits again.
    t3 <- spawn (wait `catch` (\e -> print (e :: AsyncException)) >> wait)
    throwTo (fst t3) StackOverflow
    threadDelay 2000
    killThread (fst t3)
    report (what ++ ", twice") t3
  -- Uninterruptible: the exception is delivered when the wait has been answered.
  order <- newIORef []
  let note s = atomicModifyIORef' order (\l -> (s : l, ()))
  t4 <- spawn (uninterruptibleMask_ (threadWaitRead r2 >> note "answered") >> note "not reached")
  killer <- forkIO (killThread (fst t4) >> note "killed")
  threadDelay 3000
  note "a byte"
  _ <- fdWrite w2 "x"
  report "uninterruptible read" t4
  untilBlocked killer
  readIORef order >>= print . take 2 . reverse
  _ <- fdRead r2 1
  t5 <- spawn (uninterruptibleMask_ (threadDelay 20000 >> return 'e') >>= \c -> threadDelay 1000000 >> return c)
  killThread (fst t5)
  report "uninterruptible delay" t5
  -- One of several: the others are woken; by a second wait, too.
  ts <- replicateM 5 (spawn (threadWaitRead r2))
  forM_ [0, 2, 4] $ \i -> killThread (fst (ts !! i))
  _ <- fdWrite w2 "y"
  mapM_ (report "one of five") ts
  _ <- fdRead r2 1
  -- The last one of a descriptor is killed, and the descriptor used again.
  forM_ [1 .. 20 :: Int] $ \i -> do
    t <- spawn (threadWaitRead r2)
    when (odd i) (killThread (fst t))
    _ <- fdWrite w2 "z"
    s <- outcome t
    when (s /= (if odd i then "raised thread killed" else "()")) (print (i, s))
    threadWaitRead r2
    fdRead r2 1
  -- Answered and killed at once: it ends one way or the other, and none is lost.
  ends <- forM [1 .. 200 :: Int] $ \_ -> do
    v <- newEmptyMVar
    t <- mask_ (forkIOWithUnmask (\unmask -> try (unmask (threadWaitRead r2)) >>= putMVar v))
    yield
    _ <- forkIO (void (fdWrite w2 "q"))
    killThread t
    x <- takeMVar v
    threadWaitRead r2
    _ <- fdRead r2 1
    return (either (\e -> e == ThreadKilled) (const True) x)
  print (and ends)
  -- Many, and collections.
  many <- replicateM 300 (forkIO (threadDelay 100000000 `finally` note "end"))
  threadDelay 2000
  performMajorGC
  mapM_ killThread many
  -- A transaction that waits for a delay.
  v <- registerDelay 100000000
  t6 <- spawn (atomically (readTVar v >>= check))
  killThread (fst t6)
  report "transaction" t6
  mapM_ closeNow [r, w, r2, w2]
