-- A descriptor is closed under its waiters and its number is given out again at once: they raise, and none of them acts
-- on the new one; a wait on the new one is answered by its own events.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Conc (closeFdWith)
import System.Posix.IO
import System.Posix.Types
import Waits

-- Closes the reading end, and moves that of a new pipe, with a byte in it, to the same number within the close.
replace :: Fd -> IO Fd
replace old = do
  (r, w) <- createPipe
  _ <- fdWrite w "N"
  closeFdWith (\fd -> dupTo r fd >> return ()) old
  closeFd r
  return w

main :: IO ()
main = do
  wrong <- newIORef (0 :: Int)
  forM_ [1 .. 100 :: Int] $ \i -> do
    (r, w) <- createPipe
    waiters <- forM [1 .. 3 :: Int] $ \_ -> do
      v <- newEmptyMVar
      t <- forkIO (try (threadWaitRead r >> fdRead r 1) >>= putMVar v)
      return (t, v)
    mapM_ (untilBlocked . fst) waiters
    new <- replace r
    rs <- mapM (readMVar . snd) waiters
    forM_ rs $ \x -> case x of
      Left e | show (e :: SomeException) == closed -> return ()
      _ -> modifyIORef wrong (+ 1)
    -- The byte is there for those that wait now, and for them alone.
    threadWaitRead r
    x <- fdRead r 1
    when (x /= ("N", 1)) (modifyIORef wrong (+ 1))
    -- What is written to the old one concerns nobody.
    later <- newEmptyMVar
    _ <- forkIO (threadWaitRead r >> fdRead r 1 >>= putMVar later)
    when (even i) yield
    old <- try (fdWrite w "O") :: IO (Either IOException ByteCount)
    either (const (return ())) (const (modifyIORef wrong (+ 1))) old
    _ <- fdWrite new "L"
    y <- takeMVar later
    when (y /= ("L", 1)) (modifyIORef wrong (+ 1))
    mapM_ closeNow [r, w, new]
  readIORef wrong >>= print
  -- Closed and opened by many threads at once, with one waiter each, all numbers in use again and again.
  bad <- newIORef (0 :: Int)
  ends <- forM [1 .. 4 :: Int] $ \k -> do
    end <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 50 :: Int] $ \i -> do
        (r, w) <- createPipe
        (_, v) <- spawn (threadWaitRead r >> fdRead r 2)
        when (odd (i + k)) yield
        if i `mod` 3 == 0
          then do
            closeNow r
            x <- takeMVar v
            case x of
              Left e | show e == closed -> return ()
              _ -> atomicModifyIORef' bad (\n -> (n + 1, ()))
          else do
            _ <- fdWrite w (show (k * 10 + i `mod` 10))
            x <- takeMVar v
            case x of
              Right (s, _) | s == show (k * 10 + i `mod` 10) -> return ()
              _ -> atomicModifyIORef' bad (\n -> (n + 1, ()))
            closeNow r
        closeNow w
      putMVar end ()
    return end
  mapM_ takeMVar ends
  readIORef bad >>= print
  where
    closed = "threadWait: invalid argument (Bad file descriptor)"
