-- Without OS threads, handlers of signals run while the main thread waits for time, a descriptor, an MVar and a call.
-- ghc: -O
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Foreign.C
import System.Posix.IO
import System.Posix.Signals
import System.Timeout
import Waits

foreign import ccall safe "usleep" c_usleep :: CUInt -> IO CInt

main :: IO ()
main = do
  ran <- newEmptyMVar
  _ <- installHandler sigUSR1 (CatchInfo (\i -> putMVar ran (siginfoSignal i == sigUSR1))) Nothing
  (r, w) <- createPipe
  -- The waits go on through the signal, and end as they would.
  let during what wait = do
        t <- spawn wait
        raiseSignal sigUSR1
        takeMVar ran >>= \ok -> putStrLn (what ++ " " ++ show ok)
        return t
  during "delay" (threadDelay 20000) >>= report "ends"
  t1 <- during "descriptor" (threadWaitRead r)
  _ <- fdWrite w "x"
  report "ends" t1
  m <- newEmptyMVar
  t2 <- during "MVar" (takeMVar m)
  putMVar m 'm'
  report "ends" t2
  v <- newTVarIO False
  t3 <- during "transaction" (atomically (readTVar v >>= check))
  atomically (writeTVar v True)
  report "ends" t3
  -- The main thread itself waits, and another raises the signal.
  let raise = forkIO (threadDelay 3000 >> raiseSignal sigUSR1)
  _ <- raise
  threadDelay 20000
  takeMVar ran >>= print
  (r2, w2) <- createPipe
  _ <- raise
  _ <- forkIO (takeMVar ran >>= print >> void (fdWrite w2 "y"))
  threadWaitRead r2
  _ <- raise
  takeMVar ran >>= print
  -- A handler that uses waits, delays and time-outs itself.
  done <- newEmptyMVar
  _ <- installHandler sigUSR2 (Catch (do
    threadDelay 1000
    threadWaitRead r
    x <- timeout 2000 (threadDelay 100000000)
    putMVar done (show x))) Nothing
  raiseSignal sigUSR2
  takeMVar done >>= putStrLn
  -- A handler that raises in the main thread, which waits.
  main' <- myThreadId
  _ <- installHandler sigUSR2 (Catch (throwTo main' (userError "from a handler"))) Nothing
  _ <- forkIO (threadDelay 2000 >> raiseSignal sigUSR2)
  (try (threadDelay 100000000) :: IO (Either IOException ())) >>= print
  _ <- forkIO (threadDelay 2000 >> raiseSignal sigUSR2)
  (try (fdRead r 1 >> threadWaitRead r) :: IO (Either IOException ())) >>= print
  -- Many, each waited for.
  forM_ [1 .. 50 :: Int] $ \_ -> raiseSignal sigUSR1 >> takeMVar ran
  -- Beside a long safe call; then ignored and by default ignored ones.
  call <- newEmptyMVar
  _ <- forkIO (c_usleep 30000 >> putMVar call ())
  yield
  raiseSignal sigUSR1
  takeMVar ran >>= print
  takeMVar call
  _ <- installHandler sigUSR1 Ignore Nothing
  raiseSignal sigUSR1
  threadDelay 2000
  tryTakeMVar ran >>= print
