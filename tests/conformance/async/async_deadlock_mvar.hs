-- BlockedIndefinitelyOnMVar: in main, in a child, in a cycle of threads, and recovery after it.
-- args: +RTS -I0.02 -RTS
import Control.Concurrent
import Control.Exception
import Foreign.StablePtr

main :: IO ()
main = do
  m <- newEmptyMVar :: IO (MVar ())
  r <- try (takeMVar m)
  print (r :: Either BlockedIndefinitelyOnMVar ())
  full <- newMVar 'x'
  r2 <- try (putMVar full 'y')
  print (r2 :: Either BlockedIndefinitelyOnMVar ())
  -- From here on main itself is held, or it would count as deadlocked together with the child.
  _ <- myThreadId >>= newStablePtr
  out <- newEmptyMVar
  _ <- forkIO (do
    lost <- newEmptyMVar :: IO (MVar ())
    e <- try (readMVar lost)
    putMVar out (either (\x -> show (x :: BlockedIndefinitelyOnMVar)) show e))
  takeMVar out >>= putStrLn
  a <- newEmptyMVar :: IO (MVar ())
  b <- newEmptyMVar :: IO (MVar ())
  _ <- forkIO ((takeMVar a >> putMVar b ()) `catch` \e -> putMVar out ("first: " ++ show (e :: BlockedIndefinitelyOnMVar)))
  _ <- forkIO ((takeMVar b >> putMVar a ()) `catch` \e -> putMVar out ("second: " ++ show (e :: BlockedIndefinitelyOnMVar)))
  x <- takeMVar out
  y <- takeMVar out
  mapM_ putStrLn (if x < y then [x, y] else [y, x])
