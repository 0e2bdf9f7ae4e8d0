-- Waits on what cannot be polled: files, /dev/null and numbers that are not open; the manager is as good as before.
-- skip-poll: poll(2) says of files and /dev/null that they are always ready
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Directory (getTemporaryDirectory, removeFile)
import System.IO
import System.Posix.IO
import System.Timeout
import Waits

-- Waits beside a good one, which is answered as usual.
with :: String -> IO a -> IO ()
with what act = do
  r <- try (timeout 50000 (void act)) :: IO (Either IOException (Maybe ()))
  putStrLn (what ++ ": " ++ either show (maybe "waits" (const "returns")) r)

main :: IO ()
main = do
  dir <- getTemporaryDirectory
  (path, h) <- openTempFile dir "events"
  hPutStr h "contents" >> hClose h
  file <- openFd path ReadWrite Nothing defaultFileFlags
  null' <- openFd "/dev/null" ReadWrite Nothing defaultFileFlags
  (r, w) <- createPipe
  good <- spawn (threadWaitRead r)
  forM_ [("file", file), ("/dev/null", null'), ("9999", 9999), ("-1", -1)] $ \(name, fd) -> do
    with ("read " ++ name) (threadWaitRead fd)
    with ("write " ++ name) (threadWaitWrite fd)
    with ("read " ++ name ++ ", STM") (threadWaitReadSTM fd)
    with ("write " ++ name ++ ", STM") (threadWaitWriteSTM fd)
  fdRead file 4 >>= print
  -- A descriptor of that number that can be polled.
  closeFd null'
  (r2, w2) <- createPipe
  print (r2 == null' || w2 == null')
  again <- spawn (threadWaitRead r2)
  _ <- fdWrite w2 "x"
  report "pipe" again
  _ <- fdWrite w "x"
  report "good" good
  -- Handles of files use no waits.
  readFile path >>= putStrLn
  withFile "/dev/null" ReadMode hIsEOF >>= print
  removeFile path
