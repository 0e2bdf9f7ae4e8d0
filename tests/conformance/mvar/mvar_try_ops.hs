-- tryTake, tryPut, tryRead and isEmpty with and without waiting threads on the other side.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Monad
import GHC.Conc

-- Waits until the thread has stopped at its MVar.
blocked :: ThreadId -> IO ()
blocked t = threadStatus t >>= \s -> case s of
  ThreadBlocked BlockedOnMVar -> return ()
  _ -> yield >> blocked t

main :: IO ()
main = do
  m <- newEmptyMVar :: IO (MVar Int)
  tryTakeMVar m >>= print
  tryReadMVar m >>= print
  -- A blocked putter steps in as soon as tryTake empties the box.
  putMVar m 1
  forkIO (putMVar m 2) >>= blocked
  tryTakeMVar m >>= print
  tryTakeMVar m >>= print
  tryTakeMVar m >>= print
  -- tryPut to a blocked taker hands over directly.
  got <- newEmptyMVar
  forkIO (takeMVar m >>= putMVar got) >>= blocked
  a <- tryPutMVar m 3
  b <- isEmptyMVar m
  takeMVar got >>= \x -> print (a, b, x)
  -- tryPut with blocked readers and a taker behind them.
  rs <- forM [1 .. 3 :: Int] $ \_ -> do { d <- newEmptyMVar; forkIO (readMVar m >>= putMVar d) >>= blocked; return d }
  forkIO (takeMVar m >>= putMVar got . (* 10)) >>= blocked
  tryPutMVar m 4 >>= print
  xs <- mapM takeMVar rs
  y <- takeMVar got
  e <- isEmptyMVar m
  print (xs, y, e)
  -- tryRead leaves the value.
  putMVar m 5
  tryReadMVar m >>= print
  tryReadMVar m >>= print
  tryPutMVar m 6 >>= print
  takeMVar m >>= print
