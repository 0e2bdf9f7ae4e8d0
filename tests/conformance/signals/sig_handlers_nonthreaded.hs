-- Signal handlers without OS threads, delivered while main computes, waits and sleeps.
-- ghc: -O
import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Posix.Signals

main :: IO ()
main = do
  r <- newIORef (0 :: Int)
  _ <- installHandler sigUSR1 (Catch (modifyIORef' r (+ 1))) Nothing
  raiseSignal sigUSR1
  threadDelay 200000
  readIORef r >>= print
  forM_ [1 .. 5 :: Int] $ \_ -> raiseSignal sigUSR1 >> threadDelay 100000
  readIORef r >>= print
  m <- newEmptyMVar
  _ <- installHandler sigUSR2 (Catch (putMVar m 'u')) Nothing
  _ <- forkIO (threadDelay 5000 >> raiseSignal sigUSR2)
  takeMVar m >>= print
  _ <- scheduleAlarm 0
  putStrLn "end"
