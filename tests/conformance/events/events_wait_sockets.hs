-- Waits on sockets: both directions of one, half of the bytes, a full buffer, several readers and writers.
import Control.Concurrent
import Control.Monad
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (a, b) <- socketPair
  threadWaitWrite a
  -- A reader and a writer of one descriptor: each is woken by its own event only.
  reader <- spawn (threadWaitRead a >> fst <$> fdRead a 2)
  writer <- spawn (threadWaitWrite a >> fdWrite a "to b")
  report "writer" writer
  tryReadMVar (snd reader) >>= print . maybe "the reader waits" (const "goes on")
  threadWaitRead b
  fdRead b 100 >>= print
  _ <- fdWrite b "to a"
  report "reader" reader
  threadWaitRead a
  fdRead a 100 >>= print
  -- Full, with a reader waiting on the same descriptor.
  reader2 <- spawn (threadWaitRead a >> fst <$> fdRead a 10)
  _ <- fill a
  writer2 <- spawn (threadWaitWrite a)
  _ <- fdWrite b "reply"
  report "reader beside a full buffer" reader2
  tryReadMVar (snd writer2) >>= print . maybe "the writer waits" (const "goes on")
  got <- newEmptyMVar
  drainer <- forkIO (forever (threadWaitRead b >> fdRead b 65536 >>= putMVar got . snd))
  takeMVar got >>= print . (> 0)
  consumer <- forkIO (forever (takeMVar got))
  report "the buffer has room" writer2
  killThread drainer
  killThread consumer
  -- Several readers and writers on each end: all wake.
  (c, d) <- socketPair
  readers <- replicateM 5 (spawn (threadWaitRead c))
  writers <- replicateM 3 (spawn (threadWaitWrite c))
  mapM_ (report "writer") writers
  _ <- fdWrite d "!"
  mapM_ (report "reader") readers
  -- Several readers that compete for a byte each.
  bytes <- newChan
  readers2 <- replicateM 5 (spawn (threadWaitRead d))
  _ <- fdWrite c "12345"
  mapM_ (report "woken") readers2
  forM_ [1 .. 5 :: Int] $ \_ -> forkIO (threadWaitRead d >> fdRead d 1 >>= writeChan bytes . fst)
  xs <- replicateM 5 (readChan bytes)
  print (length (concat xs))
  -- Ping-pong.
  (e, f) <- socketPair
  echo <- forkIO (forever (threadWaitRead f >> fdRead f 1 >>= fdWrite f . fst))
  forM_ [1 .. 500 :: Int] $ \_ -> fdWrite e "p" >> threadWaitRead e >> fdRead e 1
  killThread echo
  putStrLn "done"
