-- A masked thread receives a pending exception when it unmasks or blocks, not before; the thrower waits until then.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef

main :: IO ()
main = do
  logR <- newIORef []
  let say s = atomicModifyIORef' logR (\l -> (s : l, ()))
      dump = readIORef logR >>= mapM_ putStrLn . reverse >> writeIORef logR []
  go <- newEmptyMVar
  ready <- newEmptyMVar
  done <- newEmptyMVar
  -- 1: delivered on unmask
  t <- mask_ $ forkIOWithUnmask $ \unmask -> do
    putMVar ready ()
    replicateM_ 50 yield
    say "still masked"
    unmask (say "never seen") `catch` \e -> say ("delivered on unmask: " ++ show (e :: AsyncException))
    putMVar done ()
  takeMVar ready
  killThread t
  say "thrower continues"
  takeMVar done
  readIORef logR >>= print . length
  readIORef logR >>= putStrLn . last
  writeIORef logR []
  -- 2: delivered on an interruptible operation that blocks
  t2 <- mask_ $ forkIO $ do
    putMVar ready ()
    takeMVar go `catch` \e -> say ("interrupted wait: " ++ show (e :: AsyncException))
    putMVar done ()
  takeMVar ready
  killThread t2
  takeMVar done
  dump
  -- 3: an operation that need not block is not interrupted
  full <- newMVar 'f'
  t3 <- mask_ $ forkIO $ do
    putMVar ready ()
    replicateM_ 20 yield
    x <- takeMVar full
    say ("took " ++ [x])
    (takeMVar go `catch` \e -> say (show (e :: AsyncException)))
    putMVar done ()
  takeMVar ready
  killThread t3
  takeMVar done
  dump
  -- 4: uninterruptibleMask holds through a block
  t4 <- uninterruptibleMask_ $ forkIO $ do
    putMVar ready ()
    takeMVar go
    say "uninterruptible wait over"
    interruptible (return ()) `catch` \e -> say ("then " ++ show (e :: AsyncException))
    putMVar done ()
  takeMVar ready
  killer <- forkIO (killThread t4 >> say "killer done" >> putMVar ready ())
  replicateM_ 5 yield
  putMVar go ()
  takeMVar done
  takeMVar ready
  readIORef logR >>= mapM_ putStrLn . filter (/= "killer done") . reverse
  readIORef logR >>= print . elem "killer done"
  print (killer == killer)
