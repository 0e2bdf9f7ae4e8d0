-- | A server with callbacks: one event manager for each HEC, each for a part of the connections.
--
-- > hecaton ghc -O -threaded pong_events.hs && ./pong_events 8080 +RTS -N2
module Main (main) where

import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString as Bytes
import Data.IORef
import Hecaton.Event hiding (init)
import Network.Socket
import Network.Socket.ByteString
import Pong
import System.IO
import System.Posix.Types (Fd (..))

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  server <- listening
  hecs <- getNumCapabilities
  managers <- replicateM hecs new
  turn <- newIORef (cycle managers)
  fd <- unsafeFdSocket server
  let first = head managers
  _ <- registerFd first (\_ _ -> accepted server >>= mapM_ (welcome turn)) (Fd fd) evtRead
  forM_ (zip [1 ..] (tail managers)) $ \(hec, manager) -> forkOn hec (loop manager)
  loop first

-- | A client has connected. While 'accepted' waits for descriptors, the listening socket is not watched, and the loop
-- goes on.
welcome :: IORef [EventManager] -> Socket -> IO ()
welcome turn connection = do
  manager <- atomicModifyIORef' turn (\managers -> (tail managers, head managers))
  fd <- Fd <$> unsafeFdSocket connection
  before <- newIORef nothingYet
  idle <- registerTimeout manager idleLimit (end manager connection fd)
  void (registerFd manager (\_ _ -> serve manager connection fd before idle) fd evtRead)

-- | There is something to read, or the client is gone.
serve :: EventManager -> Socket -> Fd -> IORef Pending -> TimeoutKey -> IO ()
serve manager connection fd before idle = do
  arrived <- recv connection 4096 `catch` \failure -> const (pure Bytes.empty) (failure :: IOException)
  if Bytes.null arrived
    then unregisterTimeout manager idle >> end manager connection fd
    else do
      pending <- readIORef before
      let (n, rest) = requests pending arrived
      writeIORef before rest
      updateTimeout manager idle idleLimit
      -- A client that does not read its answers makes this block, and no other client waits for it.
      sendAll connection (answer n)

end :: EventManager -> Socket -> Fd -> IO ()
end manager connection fd = closeFd manager (const (close connection)) fd
