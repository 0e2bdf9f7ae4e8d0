-- Threads blocked on one MVar are served in the order in which they arrived, takers, putters and readers alike.
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Monad
import Data.IORef
import GHC.Conc

-- Waits until the thread has stopped at its MVar.
blocked :: ThreadId -> IO ()
blocked t = threadStatus t >>= \s -> case s of
  ThreadBlocked BlockedOnMVar -> return ()
  _ -> yield >> blocked t

main :: IO ()
main = do
  box <- newEmptyMVar
  out <- newMVar []
  done <- newEmptyMVar
  forM_ [1 .. 20 :: Int] $ \i -> do
    t <- forkIO $ do
      x <- takeMVar box
      modifyMVar_ out (return . ((i, x) :))
      putMVar done ()
    blocked t
  forM_ [101 .. 120 :: Int] $ \x -> putMVar box x
  replicateM_ 20 (takeMVar done)
  takeMVar out >>= print . all (\(i, x) -> x == i + 100)
  -- Blocked putters leave in order too.
  full <- newMVar (0 :: Int)
  forM_ [1 .. 10] $ \i -> do
    forkIO (putMVar full i) >>= blocked
  xs <- replicateM 11 (takeMVar full)
  print xs
  -- One put wakes every blocked reader and exactly one taker.
  v <- newEmptyMVar
  count <- newIORef (0 :: Int)
  readers <- forM [1 .. 5 :: Int] $ \_ -> do { d <- newEmptyMVar; forkIO (readMVar v >>= putMVar d) >>= blocked; return d }
  takers <- forM [1 .. 3 :: Int] $ \_ -> forkIO (takeMVar v >> atomicModifyIORef' count (\n -> (n + 1, ())))
  mapM_ blocked takers
  putMVar v 'x'
  mapM takeMVar readers >>= putStrLn
  let woken = readIORef count >>= \n -> if n > 0 then return () else threadDelay 1000 >> woken
  woken
  threadDelay 3000
  readIORef count >>= print
  e <- isEmptyMVar v
  print e
  mapM_ killThread takers
