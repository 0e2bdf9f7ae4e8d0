-- forkProcess while the parent has waiters: delays, waits, time-outs and closes work in the child, the parent's
-- threads do not go on there, and the parent's own waits are as before.
-- needs: unix
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import System.Exit
import System.IO
import System.Posix.IO
import System.Posix.Process
import System.Posix.Signals
import System.Timeout
import Waits

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  (r, w) <- createPipe
  (r2, w2) <- createPipe
  here <- getProcessID
  let astray = getProcessID >>= \p -> when (p /= here) (putStrLn "goes on in the child")
  readers <- replicateM 3 (spawn (threadWaitRead r >> astray))
  reader2 <- spawn (threadWaitRead r2 >> astray >> fdRead r2 10)
  sleeper <- spawn (threadDelay 60000 >> astray)
  _ <- installHandler sigUSR1 Ignore Nothing
  child <- forkProcess $ do
    threadDelay 1000
    putStrLn "child: delay"
    -- The parent's byte for its reader, a pipe of its own, and one of the parent's.
    (r3, w3) <- createPipe
    t <- spawn (threadWaitRead r3 >> fdRead r3 10)
    _ <- fdWrite w3 "own"
    report "child" t
    timeout 3000 (threadWaitRead r) >>= print
    timeout 3000 (threadDelay 100000000) >>= print
    t2 <- spawn (threadWaitRead r)
    closeNow r
    report "child" t2
    v <- registerDelay 2000
    atomically (readTVar v >>= check)
    done <- newEmptyMVar
    _ <- installHandler sigUSR2 (Catch (putMVar done ())) Nothing
    raiseSignal sigUSR2
    takeMVar done
    -- Longer than the parent's delay: nobody of the parent's wakes here.
    threadDelay 80000
    -- A child of the child.
    grandchild <- forkProcess $ do
      threadDelay 1000
      timeout 1000 (threadWaitRead r3) >>= print
      exitWith (ExitFailure 4)
    getProcessStatus True False grandchild >>= print
    exitWith (ExitFailure 9)
  getProcessStatus True False child >>= print
  -- The parent's waits: the child's closes and events are the child's.
  report "delay" sleeper
  tryReadMVar (snd (head readers)) >>= print . maybe "waits" (const "goes on")
  _ <- fdWrite w "x"
  mapM_ (report "reader") readers
  _ <- fdWrite w2 "y"
  report "reader2" reader2
  -- Several children, one after the other, while a thread waits.
  waiting <- spawn (fdRead r 1 >> threadWaitRead r)
  forM_ [1 .. 5 :: Int] $ \i -> do
    p <- forkProcess (threadDelay 500 >> exitWith (ExitFailure i))
    getProcessStatus True False p >>= print
  _ <- fdWrite w "z"
  report "after them" waiting
