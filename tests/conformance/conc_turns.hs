-- Threads that compute all the time keep others waiting for a while only: a new thread, one that was woken,
-- one that has run for moments until now, and threads that hand each other an MVar all the time.
-- ghc: -O -rtsopts
-- timeout: 60
-- skip-stress: what its threads compute between two moments takes minutes
import Control.Concurrent
import Control.Monad
import Data.IORef

-- Computes, allocating, until told to stop.
spin :: IORef Bool -> IO ()
spin stop = go (0 :: Integer)
  where
    go n = do
      stopped <- readIORef stop
      unless stopped (n `seq` go (n + 1))

busy :: Int -> IO () -> IO ()
busy n act = do
  stop <- newIORef False
  ended <- newEmptyMVar
  replicateM_ n (forkIO (spin stop >> putMVar ended ()))
  act
  writeIORef stop True
  replicateM_ n (takeMVar ended)

inNewThread :: IO () -> IO ()
inNewThread act = do
  done <- newEmptyMVar
  _ <- forkIO (act >> putMVar done ())
  takeMVar done

-- Blocks and is woken by another thread, so often.
handOver :: Int -> IO ()
handOver n = do
  (there, back) <- (,) <$> newEmptyMVar <*> newEmptyMVar
  _ <- forkIO (replicateM_ n (takeMVar there >>= putMVar back))
  forM_ [1 .. n] $ \i -> do
    putMVar there i
    j <- takeMVar back
    when (i /= j) (putStrLn "another one")

main :: IO ()
main = do
  busy 4 (inNewThread (return ()))
  putStrLn "a new thread"
  busy 4 (threadDelay 1000)
  putStrLn "one that slept"
  handOver 100
  busy 4 (handOver 3)
  putStrLn "one that ran for moments"
  -- Those who do nothing but wake each other are not alone either.
  over <- newIORef False
  ended <- newEmptyMVar
  replicateM_ 5 $ forkIO $ do
    let chat = readIORef over >>= \o -> unless o (handOver 10 >> chat)
    chat
    putMVar ended ()
  busy 4 (inNewThread (threadDelay 1000))
  writeIORef over True
  replicateM_ 5 (takeMVar ended)
  putStrLn "one among chatterers"
