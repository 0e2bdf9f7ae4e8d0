-- errno belongs to the Haskell thread: calls of other threads in between do not disturb it.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign
import Foreign.C

foreign import ccall unsafe "unistd.h close" cclose :: CInt -> IO CInt
foreign import ccall safe "unistd.h close" ccloseSafe :: CInt -> IO CInt
foreign import ccall unsafe "stdlib.h chdir" cchdir :: CString -> IO CInt

main :: IO ()
main = do
  r <- cclose (-1)
  e <- getErrno
  print (r, e == eBADF)
  r2 <- ccloseSafe (-1)
  e2 <- getErrno
  print (r2, e2 == eBADF)
  resetErrno
  _ <- cclose (-1)
  go <- newEmptyMVar
  _ <- forkIO (withCString "/no/such/folder" cchdir >> getErrno >>= \x -> putMVar go (x == eNOENT))
  takeMVar go >>= print
  forM_ [1 .. 100 :: Int] (\_ -> yield)
  e3 <- getErrno
  print (e3 == eBADF)
  x <- try (throwErrnoIfMinus1 "closing" (cclose (-1)))
  either (\err -> print (err :: IOException)) print x
