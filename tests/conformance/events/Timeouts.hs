-- System.Timeout: around waits, loops and calls; nested, masked, with exceptions inside; its exception stays its own.
module Timeouts (limits) where

import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Clock
import System.Posix.IO
import System.Timeout
import Waits

short, long :: Int
short = 10000
long = 100000000

limits :: IO ()
limits = do
  (r, w) <- createPipe
  m <- newEmptyMVar :: IO (MVar ())
  -- Limits of 0 and below.
  ran <- newIORef False
  timeout 0 (writeIORef ran True) >>= print
  readIORef ran >>= print
  timeout (-1) (return 'n') >>= print
  timeout minBound (threadDelay 1000) >>= print
  timeout maxBound (threadDelay 1000) >>= print
  -- Around everything that blocks, and a loop that allocates.
  timeout short (threadWaitRead r) >>= print
  timeout short (takeMVar m) >>= print
  timeout short (atomically retry :: IO ()) >>= print
  timeout short (threadDelay long) >>= print
  timeout short (forever (newIORef 'x')) >>= \x -> print (maybe "cut" (const "went on") (x :: Maybe ()))
  timeout short (forever yield) >>= \x -> print (maybe "cut" (const "went on") (x :: Maybe ()))
  -- The descriptor is still good, and the limit of a wait that was answered is gone.
  _ <- fdWrite w "abc"
  timeout long (threadWaitRead r >> fdRead r 1) >>= print
  forM_ [1 .. 300 :: Int] $ \_ -> timeout 3000 (return ())
  threadDelay 6000
  -- Nested: the inner one, the outer one, both alike, and an inner one that was answered.
  timeout long (timeout short (threadDelay long)) >>= print
  timeout short (timeout long (threadDelay long)) >>= print
  timeout short (timeout long (timeout long (takeMVar m))) >>= print
  timeout short (timeout long (return 'i') >>= print >> takeMVar m) >>= print
  timeout long (timeout short (takeMVar m) >>= print >> timeout short (takeMVar m) >>= print >> return 'o') >>= print
  -- Exceptions from inside go through; handlers for everything see the time-out, and finalizers run.
  (try (timeout long (throwIO (userError "inside"))) :: IO (Either IOException (Maybe ()))) >>= print
  (try (timeout short (timeout long (throwIO Overflow))) :: IO (Either ArithException (Maybe (Maybe ())))) >>= print
  timeout short (threadDelay long `catch` \e -> print (e :: SomeException) >> throwIO e) >>= print
  timeout short (threadDelay long `catch` \e -> print (e :: SomeAsyncException) >> return ()) >>= print
  timeout short (threadDelay long `finally` putStrLn "finalizer") >>= print
  timeout short (bracket (return ()) (const (putStrLn "release")) (const (takeMVar m))) >>= print
  -- Masked: a wait can be interrupted, what does not wait cannot; the exception comes when the mask ends.
  mask_ (timeout short (takeMVar m)) >>= print
  mask_ (timeout short (threadWaitRead r >> fdRead r 2 >> threadWaitRead r)) >>= print
  (mask_ (timeout short (waste >> return 'm')) >>= print) `catch` \e -> print (e :: SomeException)
  seen <- newIORef "nothing"
  x <- timeout short (uninterruptibleMask_ (waste >> writeIORef seen "ended") >> threadDelay long)
  readIORef seen >>= \s -> print (x, s)
  timeout short (mask $ \restore -> waste >> restore (return ()) >> putStrLn "not reached") >>= print
  -- The state of the mask afterwards.
  timeout short (takeMVar m) >> getMaskingState >>= print
  mask_ (timeout short (takeMVar m) >> getMaskingState) >>= print
  -- In many threads at once, and on a thread's result by another.
  vs <- forM [1 .. 100 :: Int] $ \i ->
    spawn (timeout (if even i then short else long) (if even i then takeMVar m else threadDelay 1000))
  rs <- mapM outcome vs
  print (length (filter (== "Nothing") rs), length (filter (== "Just ()") rs))
  where
    -- Takes longer than the short limit, without blocking.
    waste = do
      begin <- getMonotonicTime
      let go = getMonotonicTime >>= \t -> when (t - begin < 0.03) (yield >> go)
      go
