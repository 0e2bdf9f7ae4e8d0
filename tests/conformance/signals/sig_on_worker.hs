-- A thread raises a signal on an OS thread that the runtime's ticker has started, because main is in a foreign call.
-- ghc: -threaded
-- needs: unix
{-# LANGUAGE ForeignFunctionInterface #-}

import Control.Concurrent
import Foreign.C.Types
import System.Posix.Signals
import System.Timeout

foreign import ccall safe "usleep" usleep :: CUInt -> IO CInt

main :: IO ()
main = do
  got <- newEmptyMVar
  done <- newEmptyMVar
  _ <- installHandler sigUSR1 (Catch (putMVar got ())) Nothing
  _ <- forkIO $ do
    threadDelay 50000
    raiseSignal sigUSR1
    timeout 5000000 (takeMVar got) >>= putMVar done
  threadDelay 2000
  _ <- usleep 300000
  takeMVar done >>= print
