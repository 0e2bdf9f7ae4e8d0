-- A TCP connection is reset, or one half of it is shut down: what waits for it is woken, and the other half goes on.
-- needs: network
import Control.Concurrent
import Control.Monad
import Network.Socket
import Network.Socket.ByteString (recv, send)
import qualified Data.ByteString.Char8 as B
import System.Posix.IO (closeFd)
import System.Posix.Types (Fd (..))
import Waits

tcpPair :: IO (Socket, Socket)
tcpPair = do
  listening <- socket AF_INET Stream defaultProtocol
  bind listening (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen listening 1
  a <- socket AF_INET Stream defaultProtocol
  getSocketName listening >>= connect a
  (b, _) <- accept listening
  close listening
  return (a, b)

number :: Socket -> IO Fd
number s = withFdSocket s (return . Fd)

main :: IO ()
main = do
  (a, b) <- tcpPair
  fd <- number a
  _ <- fill fd
  readers <- replicateM 2 (spawn (threadWaitRead fd))
  writers <- replicateM 2 (spawn (threadWaitWrite fd))
  -- A close that resets the connection.
  setSockOpt b Linger (StructLinger 1 0)
  close b
  mapM_ (report "reader") readers
  mapM_ (report "writer") writers
  replicateM_ 2 (threadWaitRead fd >> threadWaitWrite fd)
  closeNow fd
  (c, d) <- tcpPair
  reading <- number c
  reader <- spawn (threadWaitRead reading)
  shutdown d ShutdownSend
  report "shut down for sending" reader
  threadWaitWrite reading
  send c (B.pack "still") >>= print
  recv d 10 >>= print
