-- The other end is gone: readers and writers wake; so they do for errors.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import System.Posix.IO
import System.Posix.Signals
import Waits

main :: IO ()
main = do
  _ <- installHandler sigPIPE Ignore Nothing
  -- A socket: the reader sees the end, the writer an error.
  (a, b) <- socketPair
  _ <- fill a
  reader <- spawn (threadWaitRead a)
  writer <- spawn (threadWaitWrite a)
  closeNow b
  report "reader" reader
  report "writer" writer
  (try (void (fdWrite a "x")) :: IO (Either IOException ())) >>= print
  (try (void (fdRead a 1)) :: IO (Either IOException ())) >>= print
  -- It stays so.
  forM_ [1 .. 3 :: Int] $ \_ -> threadWaitRead a >> threadWaitWrite a
  (wait, _) <- threadWaitReadSTM a
  (wait2, _) <- threadWaitWriteSTM a
  atomically (wait >> wait2)
  -- A pipe: all its writers are gone; all its readers are gone.
  (r, w) <- createPipe
  w' <- dup w
  reader2 <- spawn (threadWaitRead r)
  closeNow w
  threadDelay 1000
  tryReadMVar (snd reader2) >>= print . maybe "another writer is there" (const "goes on")
  closeNow w'
  report "reader of a pipe" reader2
  (r3, w3) <- createPipe
  _ <- fill w3
  writers <- replicateM 2 (spawn (threadWaitWrite w3))
  closeNow r3
  mapM_ (report "writer of a pipe") writers
  -- Bytes before the end: they are read first.
  (c, d) <- socketPair
  _ <- fdWrite d "last"
  closeNow d
  forM_ [1, 2 :: Int] $ \_ -> spawn (threadWaitRead c >> fdRead c 2) >>= report "before the end"
  threadWaitRead c
  mapM_ closeNow [a, r, w3, c]
