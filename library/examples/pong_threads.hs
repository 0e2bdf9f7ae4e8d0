-- | A server with one thread for each connection.
--
-- > hecaton ghc -O -threaded pong_threads.hs && ./pong_threads 8080 +RTS -N2
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString as Bytes
import Network.Socket
import Network.Socket.ByteString
import Pong
import System.IO
import System.Timeout (timeout)

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  server <- listening
  forever $ do
    next <- accepted server
    forM_ next $ \connection -> forkIO (serve connection nothingYet `finally` close connection)

serve :: Socket -> Pending -> IO ()
serve connection before = do
  arrived <- timeout idleLimit (recv connection 4096)
  case arrived of
    Just bytes | not (Bytes.null bytes) -> do
      let (n, pending) = requests before bytes
      sendAll connection (answer n)
      serve connection pending
    _ -> pure ()
