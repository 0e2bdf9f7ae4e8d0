-- Waits on pipes: for what is there already, for what comes later, again after half of it was read, and for room.
import Control.Concurrent
import Control.Monad
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  -- There already, several times, as nothing is read between.
  _ <- fdWrite w "abcdef"
  forM_ [1 .. 3 :: Int] $ \_ -> threadWaitRead r
  -- Half of it, then wait again: what is left wakes the next wait, too.
  fdRead r 3 >>= print
  threadWaitRead r
  fdRead r 2 >>= print
  spawn (threadWaitRead r) >>= report "one byte left"
  fdRead r 100 >>= print
  -- Later; then again, as a thread that never meets EAGAIN.
  forM_ [1 .. 20 :: Int] $ \i -> do
    waiting <- spawn (threadWaitRead r >> fst <$> fdRead r 1)
    _ <- fdWrite w [toEnum (96 + i), 'z']
    report (show i) waiting
    threadWaitRead r
    fdRead r 1 >>= print
  -- Room is there at once.
  threadWaitWrite w
  threadWaitWrite w
  -- Full: waits until it is drained, several times over.
  forM_ [1 .. 3 :: Int] $ \_ -> do
    n <- fill w
    full <- spawn (threadWaitWrite w >> fdWrite w "more")
    threadWaitRead r
    tryReadMVar (snd full) >>= print . maybe "waits" (const "goes on")
    let drain left = when (left > 0) (fdRead r (fromIntegral left) >>= \(_, m) -> drain (left - fromIntegral m))
    drain n
    report "room" full
    threadWaitRead r
    fdRead r 100 >>= print
  -- End of file is something to read.
  end <- spawn (threadWaitRead r)
  closeNow w
  report "end of file" end
  threadWaitRead r
