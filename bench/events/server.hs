-- An HTTP server with a thread for each connection, as a program on the package network has it. It answers every
-- request alike, whatever it asks for. Arguments: `pong` (five letters), `timeout` (the same, each request under a time
-- limit), or `file` and a path. It prints its port.
-- needs: network
{-# LANGUAGE OverloadedStrings #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as Bytes
import Data.Maybe
import Network.Socket
import Network.Socket.ByteString
import System.Environment
import System.IO
import System.Timeout

main :: IO ()
main = do
  arguments <- getArgs
  let answer = case arguments of
        ["pong"] -> pong
        ["timeout"] -> fmap (fromMaybe False) . timeout 10000000 . pong
        ["file", path] -> respond (Bytes.readFile path)
        _ -> error "pong, timeout, or file PATH"
  listener <- socket AF_INET Stream defaultProtocol
  -- On all loopback addresses: from one to another there are few ports.
  bind listener (SockAddrInet 0 0)
  listen listener 4096
  socketPort listener >>= print
  hFlush stdout
  forever $ do
    (connection, _) <- accept listener
    forkIO (handle ended (serve answer connection) `finally` close connection)

-- | The client resets the connection.
ended :: IOException -> IO ()
ended _ = return ()

serve :: (Socket -> IO Bool) -> Socket -> IO ()
serve answer connection = do
  more <- answer connection
  when more (serve answer connection)

pong :: Socket -> IO Bool
pong = respond (return "Pong!")

-- | Answers one request; False if the client has closed the connection.
respond :: IO Bytes.ByteString -> Socket -> IO Bool
respond content connection = do
  request <- recv connection 4096
  if Bytes.null request
    then return False
    else do
      body <- content
      sendAll connection (Bytes.concat ["HTTP/1.1 200 OK\r\nContent-Length: ", Bytes.pack (show (Bytes.length body)), "\r\n\r\n", body])
      return True
