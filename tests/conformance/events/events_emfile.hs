-- An accept loop runs out of descriptors: accept fails with the stock error; the loop neither spins nor locks up, and
-- accepts all that wait as soon as there are descriptors again.
-- needs: network
-- skip-hecs: the stock runtime cannot start with few descriptors and a timer
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Network.Socket
import System.IO.Error
import System.Posix.IO
import System.Posix.Resource
import System.Posix.Types (Fd)
import System.Timeout
import Ticker

main :: IO ()
main = do
  awaitTicker
  server <- socket AF_INET Stream defaultProtocol
  bind server (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen server 20
  address <- getSocketName server
  failures <- newIORef (0 :: Int)
  accepted <- newChan
  -- All of them are made before the descriptors run out. All sockets are kept to the end: a finalizer would give back a
  -- descriptor.
  clients <- replicateM 5 (socket AF_INET Stream defaultProtocol)
  limits <- getResourceLimit ResourceOpenFiles
  setResourceLimit ResourceOpenFiles limits { softLimit = ResourceLimit 64 }
  let hoard fds = (try (dup 0) :: IO (Either IOException Fd)) >>= either (\e -> return (fds, e)) (hoard . (: fds))
  (fds, full) <- hoard []
  print (isFullError full, ioeGetErrorString full)
  loop <- forkIO $ forever $ do
    r <- try (accept server) :: IO (Either IOException (Socket, SockAddr))
    case r of
      Left e -> do
        n <- atomicModifyIORef' failures (\n -> (n + 1, n))
        when (n == 0) (writeChan accepted (Left (show e)))
        threadDelay 2000
      Right (s, _) -> writeChan accepted (Right s)
  mapM_ (`connect` address) clients
  readChan accepted >>= either putStrLn (const (putStrLn "accepted"))
  timeout 20000 (readChan accepted) >>= putStrLn . maybe "nothing is accepted" (const "something")
  -- Descriptors come back, and all the clients are served.
  mapM_ closeFd (take 10 fds)
  served <- forM clients $ \_ -> do
    r <- readChan accepted
    r <$ putStrLn (either id (const "accepted") r)
  n <- readIORef failures
  print (n >= 1 && n < 500)
  threadDelay 20000
  n' <- readIORef failures
  print (n' - n < 2)
  killThread loop
  mapM_ close clients
  mapM_ (mapM_ close) served
