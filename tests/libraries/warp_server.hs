-- warp: a server inside the program, asked over plain sockets: pages, posts, streaming, keep-alive, errors, many
-- clients.
-- needs: warp wai http-types network
{-# LANGUAGE OverloadedStrings #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Builder as BB
import qualified Data.ByteString.Char8 as B
import qualified Data.ByteString.Lazy as L
import Network.HTTP.Types
import Network.Socket
import Network.Socket.ByteString
import Network.Wai
import Network.Wai.Handler.Warp

app :: MVar Int -> Application
app hits req respond = do
  modifyMVar_ hits (return . (+ 1))
  case pathInfo req of
    [] -> respond (responseLBS status200 [("Content-Type", "text/plain")] "hello")
    ["echo"] -> strictRequestBody req >>= \b -> respond (responseLBS status200 [] (L.append "got " b))
    ["stream"] -> respond (responseStream status200 [] (\send flush -> forM_ [1 .. 5 :: Int] (\n -> send (BB.intDec n <> "\n") >> flush)))
    ["error"] -> throwIO (userError "handler failed")
    ["query"] -> respond (responseLBS status200 [] (L.fromStrict (B.pack (show (queryString req)))))
    _ -> respond (responseLBS status404 [] "none")

request :: PortNumber -> B.ByteString -> IO [B.ByteString]
request port text = bracket (socket AF_INET Stream defaultProtocol) close $ \s -> do
  connect s (SockAddrInet port (tupleToHostAddress (127, 0, 0, 1)))
  sendAll s text
  let go = recv s 4096 >>= \m -> if B.null m then return [] else (m :) <$> go
  filter (not . volatile) . B.lines . B.filter (/= '\r') . B.concat <$> go
  where volatile l = any (`B.isPrefixOf` l) ["Date:", "Server:"]

get :: PortNumber -> B.ByteString -> IO [B.ByteString]
get port path = request port (B.concat ["GET ", path, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"])

main :: IO ()
main = do
  hits <- newMVar 0
  s <- socket AF_INET Stream defaultProtocol
  bind s (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen s 128
  port <- socketPort s
  server <- forkIO (runSettingsSocket (setOnException (\_ _ -> return ()) defaultSettings) s (app hits))
  get port "/" >>= print
  get port "/nothing" >>= print
  get port "/stream" >>= print
  -- After a failed handler the connection stays open: only the first piece is read.
  bracket (socket AF_INET Stream defaultProtocol) close $ \c -> do
    connect c (SockAddrInet port (tupleToHostAddress (127, 0, 0, 1)))
    sendAll c "GET /error HTTP/1.1\r\nHost: h\r\n\r\n"
    recv c 4096 >>= print . B.takeWhile (/= '\r')
  get port "/query?a=1&b=x%20y" >>= print . drop 2
  request port "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nabcde" >>= print . elem "got abcde"
  request port "GET / HTTP/1.1\r\nHost: h\r\n\r\nGET /nothing HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" >>= print . filter ("HTTP" `B.isPrefixOf`)
  vs <- forM [1 .. 30 :: Int] $ \_ -> do { v <- newEmptyMVar; _ <- forkIO (replicateM 10 (get port "/") >>= putMVar v . all ("hello" `elem`)); return v }
  mapM takeMVar vs >>= print . and
  readMVar hits >>= print
  killThread server
  putStrLn "stopped"
