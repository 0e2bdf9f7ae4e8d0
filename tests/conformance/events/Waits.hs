-- What the programs of this folder share: threads that are known to wait, what became of them, and descriptors.
module Waits (spawn, spawnBy, untilBlocked, outcome, report, fill, socketPair, closeNow, within, switches) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Char (isDigit)
import Data.List (isSuffixOf)
import Foreign
import Foreign.C
import GHC.Clock (getMonotonicTime)
import GHC.Conc (BlockReason (..), ThreadStatus (..), closeFdWith, threadStatus)
import System.Directory (listDirectory)
import System.IO
import System.Posix.IO
import System.Posix.Types

-- Starts a thread, and returns once it is blocked or has ended.
spawn :: IO a -> IO (ThreadId, MVar (Either SomeException a))
spawn = spawnBy forkIO

spawnBy :: (IO () -> IO ThreadId) -> IO a -> IO (ThreadId, MVar (Either SomeException a))
spawnBy fork act = do
  v <- newEmptyMVar
  t <- mask $ \restore -> fork (try (restore act) >>= putMVar v)
  untilBlocked t
  return (t, v)

-- A thread may be blocked for a moment on its way to the wait itself: hence the delay.
untilBlocked :: ThreadId -> IO ()
untilBlocked t = threadStatus t >>= \s -> case s of
  ThreadBlocked BlockedOnForeignCall -> again
  ThreadBlocked _ -> threadDelay 1000
  ThreadRunning -> again
  _ -> return ()
  where
    again = yield >> threadDelay 100 >> untilBlocked t

-- What became of a thread.
outcome :: Show a => (ThreadId, MVar (Either SomeException a)) -> IO String
outcome (_, v) = either (\e -> "raised " ++ show (e :: SomeException)) show <$> readMVar v

report :: Show a => String -> (ThreadId, MVar (Either SomeException a)) -> IO ()
report what w = outcome w >>= \s -> putStrLn (what ++ ": " ++ s) >> hFlush stdout

-- Writes until the descriptor takes no more.
fill :: Fd -> IO Int
fill fd = do
  setFdOption fd NonBlockingRead True
  let go n = do
        r <- try (fdWrite fd (replicate 4096 'x')) :: IO (Either IOException ByteCount)
        either (const (return n)) (go . (+ n) . fromIntegral) r
  go 0

foreign import ccall unsafe "socketpair" c_socketpair :: CInt -> CInt -> CInt -> Ptr CInt -> IO CInt

-- A pair of connected stream sockets.
socketPair :: IO (Fd, Fd)
socketPair = allocaArray 2 $ \p -> do
  throwErrnoIfMinus1_ "socketpair" (c_socketpair 1 1 0 p)
  [a, b] <- peekArray 2 p
  forM_ [a, b] $ \fd -> setFdOption (Fd fd) NonBlockingRead True
  return (Fd a, Fd b)

-- Closes a descriptor as the libraries do.
closeNow :: Fd -> IO ()
closeNow = closeFdWith closeFd

-- Does the action take less than this number of seconds?
within :: Double -> IO a -> IO Bool
within limit act = do
  begin <- getMonotonicTime
  _ <- act
  end <- getMonotonicTime
  return (end - begin < limit)

-- Context switches of all OS threads so far.
switches :: IO Int
switches = do
  tasks <- filter (all isDigit) <$> listDirectory "/proc/self/task"
  fmap sum $ forM tasks $ \t -> do
    s <- readFile ("/proc/self/task/" ++ t ++ "/status")
    return (sum [read n | [k, n] <- map words (lines s), "voluntary_ctxt_switches:" `isSuffixOf` k])
