-- A server holds 10,000 connections that are idle, or as many as the limit of descriptors allows, beside 64 that are
-- busy. Then each of the idle ones has a request, and all are closed.
-- ghc: -O -threaded
-- needs: network
-- skip-check: 10,000 threads
-- skip-stress: 10,000 threads
-- timeout: 120
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as B
import Data.IORef
import Network.Socket
import Network.Socket.ByteString
import System.Exit
import System.Posix.Process
import System.Posix.Resource

-- Both processes have one descriptor for each connection, and some more.
connections :: IO Int
connections = do
  limits <- getResourceLimit ResourceOpenFiles
  let most = case hardLimit limits of
        ResourceLimit n -> fromIntegral (min 11000 n)
        _ -> 11000 :: Int
  setResourceLimit ResourceOpenFiles limits {softLimit = ResourceLimit (fromIntegral most)}
  return (min 10000 (most - 100))

-- A request is a line of 8 bytes, and its answer is the same line.
serve :: Socket -> IO ()
serve s = recv s 8 >>= \line -> unless (B.null line) (sendAll s line >> serve s)

ask :: Socket -> Int -> IO ()
ask s n = do
  let line = B.pack (take 7 (show n ++ ".......") ++ "\n")
  sendAll s line
  answer <- recv s 8
  when (answer /= line) (throwIO (ErrorCall ("another answer: " ++ show answer)))

-- Runs all actions at once, and waits for them.
together :: [IO ()] -> IO ()
together actions = do
  ends <- forM actions $ \act -> newEmptyMVar >>= \end -> forkFinally act (putMVar end) >> return end
  forM_ ends $ \end -> takeMVar end >>= either throwIO return

clients :: SockAddr -> Int -> IO ()
clients to n = do
  all' <- replicateM n $ do
    s <- socket AF_INET Stream defaultProtocol
    connect s to
    return s
  let (busy, idle) = splitAt 64 all'
  together [mapM_ (ask s) [1 .. 100] | s <- busy]
  together (zipWith ask idle [1 ..])
  together [mapM_ (ask s) [1 .. 100] | s <- busy]
  mapM_ close all'

main :: IO ()
main = do
  n <- connections
  listener <- socket AF_INET Stream defaultProtocol
  bind listener (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen listener 1024
  to <- getSocketName listener
  client <- forkProcess (close listener >> clients to n)
  (open, most, over) <- (,,) <$> newIORef (0 :: Int) <*> newIORef 0 <*> newEmptyMVar
  let change d = atomicModifyIORef' open (\k -> (k + d, k + d))
      ended left = readIORef most >>= \m -> when (m == n && left == 0) (putMVar over ())
  server <- forkIO $ forever $ do
    (s, _) <- accept listener
    k <- change 1
    atomicModifyIORef' most (\m -> (max m k, ()))
    forkIO ((serve s `finally` close s) >> change (-1) >>= ended)
  end <- getProcessStatus True False client
  print (end == Just (Exited ExitSuccess))
  takeMVar over
  killThread server
  readIORef most >>= print . (== n)
