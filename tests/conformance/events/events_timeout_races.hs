-- Time limits that end at the moment when the action does, or an exception comes from elsewhere: each limit ends in one
-- way, and its exception is never seen after it.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.Mem
import System.Timeout

main :: IO ()
main = do
  never <- newEmptyMVar :: IO (MVar ())
  -- Actions that take as long as their limits, 1 to 3 deep; then a wait, in which a late exception would show.
  ends <- forM [1 .. 200 :: Int] $ \i -> do
    v <- newEmptyMVar
    let us = 500 + i * 7
        act = if even i then threadDelay us else takeMVar never
        deep = iterate (fmap join . timeout us) (Just <$> act) !! (1 + i `mod` 3)
    _ <- forkIO (try ((,) <$> deep <*> (threadDelay 3000 >> getMaskingState)) >>= putMVar v)
    return v
  rs <- mapM takeMVar ends
  print [e | Left e <- rs :: [Either SomeException (Maybe (), MaskingState)]]
  print (and [state == Unmasked | Right (_, state) <- rs])
  print (and [r == Nothing | (i, Right (r, _)) <- zip [1 :: Int ..] rs, odd i])
  -- Others throw at the same time. The limit's exception or theirs is the first; the limit is over in any case.
  kills <- forM [1 .. 200 :: Int] $ \i -> do
    v <- newEmptyMVar
    thrown <- newEmptyMVar
    t <- mask_ $ forkIO $ do
      r <- try (timeout 1000 (takeMVar never))
      -- An exception that comes late is raised here.
      s <- try (interruptible (threadDelay 1500 >> takeMVar thrown))
      putMVar v (r, s)
    _ <- forkIO (threadDelay (950 + i `mod` 100) >> throwTo t Overflow >> putMVar thrown ())
    return v
  xs <- mapM takeMVar kills :: IO [(Either ArithException (Maybe ()), Either ArithException ())]
  print (and [(r, s) `elem` [(Left Overflow, Right ()), (Right Nothing, Left Overflow)] | (r, s) <- xs])
  -- The exception is that of the library, and equal to itself alone. It comes within the handler, because a masked
  -- thread gets exceptions only where it waits.
  seen <- newIORef []
  let note e = modifyIORef seen (e :) >> throwIO (e :: Timeout)
  replicateM_ 2 (mask_ (timeout 1000 (takeMVar never `catch` note)) >>= print)
  mask_ (timeout 1000 (timeout 1000000 (takeMVar never `catch` note))) >>= print
  es <- readIORef seen
  print es
  print [a == b | a <- es, b <- es]
  -- An exception that was kept ends no later limit.
  (try (timeout 1000000 (throwIO (head es))) :: IO (Either Timeout (Maybe ()))) >>= print
  me <- myThreadId
  timeout 1000 (takeMVar never `catch` \e -> performMajorGC >> throwTo me (e :: Timeout)) >>= print
