-- MVars that have survived a collection unchanged, used as locks by threads on several HECs: the
-- first put after a collection has to tell the collector, and must not unlock before it has put.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Mem (performMinorGC)

main :: IO ()
main = do
  locks <- replicateM 200 ((,) <$> newMVar () <*> newIORef (0 :: Int))
  performMinorGC
  performMinorGC
  done <- newEmptyMVar
  let worker = do
        forM_ [1 .. 6000 :: Int] $ \i -> do
          forM_ locks $ \(lock, count) -> withMVar lock $ \() -> do
            n <- readIORef count
            writeIORef count $! n + 1
          when (i `mod` 4 == 0) performMinorGC
        putMVar done ()
  replicateM_ 4 (forkIO worker)
  replicateM_ 4 (takeMVar done)
  counts <- mapM (readIORef . snd) locks
  print (minimum counts, maximum counts)
