-- A queue of connections that is full: on TCP those who connect wait, on a local socket they get an error. All that are
-- in the queue are served when the server accepts again, or get an error when it closes.
-- needs: network
-- timeout: 120
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as B
import Network.Socket
import Network.Socket.ByteString
import System.Directory
import System.IO.Error
import System.Posix.Process (getProcessID)
import System.Timeout
import Waits

descriptors :: IO Int
descriptors = length <$> listDirectory "/proc/self/fd"

-- Are there no more descriptors than before, soon?
returned :: Int -> Int -> IO Bool
returned before tries = do
  after <- descriptors
  if after <= before || tries == 0
    then pure (after <= before)
    else threadDelay 10000 >> returned before (tries - 1)

listening :: Family -> SockAddr -> IO (Socket, SockAddr)
listening family address = do
  s <- socket family Stream defaultProtocol
  bind s address
  listen s 1
  (,) s <$> getSocketName s

-- Connects, sends a byte and gets it back.
client :: Family -> SockAddr -> IO String
client family address = bracket (socket family Stream defaultProtocol) close $ \s -> do
  connect s address
  sendAll s (B.pack "x")
  B.unpack <$> recv s 1

echo :: Socket -> IO ()
echo server = bracket (fst <$> accept server) close $ \c -> recv c 1 >>= sendAll c

main :: IO ()
main = do
  _ <- timeout 1000 (threadDelay 1000000)
  -- The runtime opens its own descriptors for the first wait.
  (first, place) <- listening AF_INET (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  opening <- spawn (echo first)
  client AF_INET place >>= putStrLn
  report "first" opening
  close first
  before <- descriptors
  -- More than fit; the others' connections are made when there is room.
  (server, address) <- listening AF_INET (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  clients <- replicateM 6 (spawn (client AF_INET address))
  threadDelay 20000
  replicateM_ 6 (echo server)
  mapM_ (report "client") clients
  -- Nobody waits any more, and the server's next wait is as good as the first.
  accepting <- spawn (echo server)
  client AF_INET address >>= putStrLn
  report "server" accepting
  -- Closed with a full queue, and under a thread that accepts.
  full <- replicateM 2 (spawn (client AF_INET address))
  threadDelay 20000
  close server
  forM_ full $ \(_, v) -> takeMVar v >>= putStrLn . either (const "reset") show
  (server2, address2) <- listening AF_INET (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  stopped <- spawn (fst <$> accept server2)
  close server2
  report "accept" stopped
  (try (accept server2) :: IO (Either IOException (Socket, SockAddr))) >>= print . either ioeGetErrorString (const "accepted")
  (try (client AF_INET address2) :: IO (Either IOException String)) >>= putStrLn . either (const "refused") id
  -- A local socket refuses what does not fit.
  dir <- getTemporaryDirectory
  me <- getProcessID
  let path = dir ++ "/events_accept_queue." ++ show me
  (local, name) <- listening AF_UNIX (SockAddrUnix path)
  results <- forM [1 .. 6 :: Int] $ \_ -> do
    s <- socket AF_UNIX Stream defaultProtocol
    r <- try (connect s name) :: IO (Either IOException ())
    return (s, either (\e -> if isFullError e then "full" else ioeGetErrorString e) (const "connected") r)
  mapM_ (putStrLn . snd) results
  accepted <- forM (filter ((== "connected") . snd) results) $ \_ -> fst <$> accept local
  timeout 5000 (accept local) >>= print . maybe "no more" (const "one more")
  mapM_ close (accepted ++ map fst results)
  close local
  removeFile path
  -- The runtime may have closed one of its own.
  returned before 100 >>= print
