-- Waits on pipes without OS threads, with delays beside them.
-- ghc: -O
import Control.Concurrent
import Control.Monad
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  setFdOption r NonBlockingRead True
  _ <- fdWrite w "abcdef"
  forM_ [1 .. 3 :: Int] $ \_ -> threadWaitRead r
  fdRead r 3 >>= print
  threadWaitRead r
  fdRead r 2 >>= print
  spawn (threadWaitRead r) >>= report "one byte left"
  fdRead r 100 >>= print
  forM_ [1 .. 10 :: Int] $ \i -> do
    waiting <- spawn (threadWaitRead r >> fst <$> fdRead r 1)
    _ <- forkIO (threadDelay (i * 100) >> void (fdWrite w [toEnum (96 + i), 'z']))
    report (show i) waiting
    threadWaitRead r
    fdRead r 1 >>= print
  threadWaitWrite w
  n <- fill w
  full <- spawn (threadWaitWrite w >> fdWrite w "more")
  threadWaitRead r
  let drain left = when (left > 0) (fdRead r (fromIntegral left) >>= \(_, m) -> drain (left - fromIntegral m))
  drain n
  report "room" full
  threadWaitRead r
  fdRead r 100 >>= print
  -- Two readers and a writer on one socket; both readers wake.
  (a, b) <- socketPair
  readers <- replicateM 2 (spawn (threadWaitRead a))
  writer <- spawn (threadWaitWrite a)
  report "writer" writer
  _ <- fdWrite b "x"
  mapM_ (report "reader") readers
  -- End of file is something to read.
  end <- spawn (threadWaitRead r)
  closeNow w
  report "end of file" end
