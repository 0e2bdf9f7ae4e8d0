-- On several HECs: what unsafePerformIO does is done once, though many threads demand it at the same moment; so are
-- CAFs.
-- ghc: -O -threaded
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.IO.Unsafe

bump :: IORef Int -> IO Int
bump r = atomicModifyIORef' r (\c -> (c + 1, c))

count :: IORef Int
count = unsafePerformIO (newIORef 0)
{-# NOINLINE count #-}

caf1, caf2, caf3, caf4 :: Int
caf1 = unsafePerformIO (yield >> bump count >> return 1)
caf2 = caf1 + unsafePerformIO (bump count >> return 2)
caf3 = unsafePerformIO (threadDelay 100 >> bump count >> return (caf2 + 3))
caf4 = caf3 + caf1 + unsafePerformIO (bump count >> return 4)
{-# NOINLINE caf1 #-}
{-# NOINLINE caf2 #-}
{-# NOINLINE caf3 #-}
{-# NOINLINE caf4 #-}

together :: Int -> IO a -> IO [a]
together n act = do
  gate <- newEmptyMVar
  dones <- replicateM n $ do
    done <- newEmptyMVar
    _ <- forkIO (readMVar gate >> act >>= putMVar done)
    return done
  putMVar gate ()
  mapM takeMVar dones

main :: IO ()
main = do
  rs <- together 8 (evaluate (caf4 + caf2))
  print rs
  readIORef count >>= print
  -- 4000 thunks, walked by eight threads.
  made <- newIORef 0
  let thunks = [unsafePerformIO (bump made >> return (i * 2)) | i <- [1 .. 4000 :: Int]]
  sums <- together 8 (evaluate (sum thunks))
  print sums
  readIORef made >>= print
  -- Some that stop in the middle.
  slow <- newIORef 0
  let waits = [unsafePerformIO (bump slow >> when (i `mod` 50 == 0) (threadDelay 50) >> yield >> bump slow) | i <- [1 .. 400 :: Int]]
  _ <- together 8 (mapM_ evaluate waits)
  readIORef slow >>= print
  -- unsafeInterleaveIO too.
  reads' <- newIORef 0
  lazies <- forM [1 .. 1000 :: Int] (\i -> unsafeInterleaveIO (bump reads' >> return i))
  ls <- together 8 (evaluate (sum lazies))
  print ls
  readIORef reads' >>= print
