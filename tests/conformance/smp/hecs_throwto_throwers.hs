-- On several HECs: threads throw at each other, at masked ones that never listen until the end, and give up waiting by
-- timeouts; each exception that was delivered was delivered once.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.Timeout

data Poke = Poke deriving Show
instance Exception Poke

-- Throws that time out leave nothing behind: what arrives is what `throwTo` has said was delivered.
deaf :: IO (Bool, Int)
deaf = do
  got <- newIORef (0 :: Int)
  ready <- newEmptyMVar
  wake <- newEmptyMVar
  done <- newEmptyMVar
  t <- mask_ $ forkIOWithUnmask $ \unmask -> do
    putMVar ready ()
    uninterruptibleMask_ (takeMVar wake)
    let listen :: Int -> IO ()
        listen 0 = pure ()
        listen n = do
          r <- try (unmask yield)
          case r of
            Left Poke -> modifyIORef' got (+ 1) >> listen n
            Right () -> listen (n - 1)
    listen 50
    putMVar done ()
  takeMVar ready
  gone <- forM [1 .. 30 :: Int] $ \_ -> do
    r <- newEmptyMVar
    _ <- forkIO (timeout 2000 (throwTo t Poke) >>= putMVar r)
    pure r
  results <- mapM takeMVar gone
  waiting <- forM [1 .. 10 :: Int] $ \_ -> do
    r <- newEmptyMVar
    _ <- forkIO (throwTo t Poke >> putMVar r ())
    pure r
  threadDelay 5000
  putMVar wake ()
  mapM_ takeMVar waiting
  takeMVar done
  n <- readIORef got
  pure (all (== Nothing) results, n)

-- Everybody throws at everybody; the survivors' accounts add up.
melee :: IO Bool
melee = do
  let n = 8
  caught <- newIORef (0 :: Int)
  thrown <- newIORef (0 :: Int)
  gate <- newEmptyMVar
  finished <- replicateM n newEmptyMVar
  let bump r = atomicModifyIORef' r (\k -> (k + 1, ()))
      -- Interrupted or not, the throw counts only when it returns.
      attack ts i = do
        r <- try (throwTo (ts !! (i `mod` length ts)) Poke >> bump thrown)
        case r of
          Left Poke -> bump caught
          Right () -> pure ()
  ts <- forM finished $ \end -> mask_ $ forkIO $ do
    ts <- readMVar gate
    me <- myThreadId
    let others = filter (/= me) ts
    forM_ [1 .. 100] $ \i -> do
      attack others i
      r <- try (interruptible (pure ()))
      either (\Poke -> bump caught) pure r
    putMVar end () `catch` \Poke -> bump caught >> putMVar end ()
    threadDelay 100 `catch` \Poke -> bump caught
  putMVar gate ts
  mapM_ takeMVar finished
  -- No thread catches what is thrown to finished threads.
  c <- readIORef caught
  t <- readIORef thrown
  pure (c > 0 && t > 0)

main :: IO ()
main = do
  deaf >>= print
  melee >>= print
