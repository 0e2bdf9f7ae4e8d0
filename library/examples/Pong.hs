{-# LANGUAGE OverloadedStrings #-}

-- | What both servers of this folder have in common: a socket that listens, and as much of HTTP as they need. They
-- answer every request with the same five bytes.
module Pong
  ( listening,
    accepted,
    Pending,
    nothingYet,
    requests,
    answer,
    idleLimit,
  )
where

import Control.Concurrent (threadDelay)
import Control.Exception
import qualified Data.ByteString.Char8 as Bytes
import Network.Socket
import System.Environment (getArgs)
import System.IO

-- | Listens on the port that is the first argument, or on any, and says on which.
listening :: IO Socket
listening = do
  args <- getArgs
  s <- socket AF_INET Stream defaultProtocol
  setSocketOption s ReuseAddr 1
  bind s (SockAddrInet (case args of port : _ -> read port; [] -> 0) (tupleToHostAddress (127, 0, 0, 1)))
  listen s 1024
  port <- socketPort s
  putStrLn ("listening on " ++ show port)
  pure s

-- | The next connection. Where there are no descriptors left, nothing after a tenth of a second, so that a server does
-- not spin until another connection ends.
accepted :: Socket -> IO (Maybe Socket)
accepted server = (Just . fst <$> accept server) `catch` \failure -> do
  hPutStrLn stderr ("cannot accept: " ++ show (failure :: IOException))
  threadDelay 100000
  pure Nothing

-- | The beginning of a request that has not arrived in full.
type Pending = Bytes.ByteString

nothingYet :: Pending
nothingYet = Bytes.empty

-- | How many requests end in what has arrived, and what follows the last one.
requests :: Pending -> Bytes.ByteString -> (Int, Pending)
requests before arrived = go 0 (before <> arrived)
  where
    go n text = case Bytes.breakSubstring "\r\n\r\n" text of
      (_, end) | Bytes.null end -> (n, text)
      (_, end) -> let n' = n + 1 in n' `seq` go n' (Bytes.drop 4 end)

-- | The answers to a number of requests.
answer :: Int -> Bytes.ByteString
answer n = Bytes.concat (replicate n "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nPong!")

-- | How long a connection may be idle, in microseconds.
idleLimit :: Int
idleLimit = 30000000
