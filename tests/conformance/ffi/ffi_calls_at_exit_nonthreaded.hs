-- When main has ended, a thread that still writes to stdout calls C that calls Haskell: what is buffered is written
-- after that.
-- ghc: -O
import Control.Concurrent
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
  _ <- forkIO (withHandle_ "main" stdout (\_ -> putMVar locked () >> threadDelay 20000 >> call))
  takeMVar locked
