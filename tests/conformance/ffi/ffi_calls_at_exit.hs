-- When main has ended, a thread that still writes to stdout calls C that calls Haskell, and begins an OS thread: what
-- is buffered is written after that.
-- ghc: -O -threaded
import Control.Concurrent
import Control.Monad
import GHC.IO.Handle.Internals (withHandle_)
import System.IO

foreign export ccall "called" called :: IO ()
foreign import ccall "called" call :: IO ()

called :: IO ()
called = yield >> hPutStrLn stderr "called"

main :: IO ()
main = do
  hSetBuffering stdout (BlockBuffering Nothing)
  putStrLn "written"
  locked <- newEmptyMVar
  void $ forkIO $ withHandle_ "main" stdout $ \_ -> do
    putMVar locked ()
    threadDelay 20000
    call
    done <- newEmptyMVar
    _ <- forkOS (putMVar done ())
    takeMVar done
    hPutStrLn stderr "begun"
  takeMVar locked
