-- network: an echo server on the loopback with forty clients at once, timeouts, closing and refused connections.
-- needs: network
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as B
import Network.Socket
import Network.Socket.ByteString
import System.Timeout

serve :: Socket -> IO ()
serve s = forever $ do
  (c, _) <- accept s
  forkFinally (loop c) (\_ -> close c)
  where loop c = recv c 4096 >>= \m -> unless (B.null m) (sendAll c m >> loop c)

client :: PortNumber -> Int -> IO Bool
client port n = bracket (socket AF_INET Stream defaultProtocol) close $ \s -> do
  connect s (SockAddrInet port (tupleToHostAddress (127, 0, 0, 1)))
  oks <- forM [1 .. 20 :: Int] $ \k -> do
    let message = B.pack (concat (replicate (1 + (k * n) `mod` 50) ("client " ++ show n ++ " message " ++ show k ++ ";")))
    sendAll s message
    back <- collect s (B.length message)
    return (back == message)
  return (and oks)
  where collect s k | k <= 0 = return B.empty
                    | otherwise = recv s k >>= \m -> if B.null m then return m else B.append m <$> collect s (k - B.length m)

main :: IO ()
main = do
  s <- socket AF_INET Stream defaultProtocol
  setSocketOption s ReuseAddr 1
  bind s (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen s 64
  port <- socketPort s
  server <- forkIO (serve s)
  vs <- forM [1 .. 40] $ \n -> do { v <- newEmptyMVar; _ <- forkIO ((client port n `catch` \e -> print (e :: SomeException) >> return False) >>= putMVar v); return v }
  mapM takeMVar vs >>= print . and
  -- A read that nobody answers is interrupted.
  q <- socket AF_INET Stream defaultProtocol
  connect q (SockAddrInet port (tupleToHostAddress (127, 0, 0, 1)))
  timeout 20000 (recv q 10) >>= print
  -- A large transfer in both directions.
  let big = B.concat (replicate 20000 (B.pack "0123456789"))
  _ <- forkIO (sendAll q big)
  total <- newEmptyMVar
  _ <- forkIO (let go n | n >= B.length big = putMVar total n
                        | otherwise = recv q 65536 >>= \m -> go (n + B.length m) in go 0)
  takeMVar total >>= print
  close q
  killThread server
  close s
  r <- try (bracket (socket AF_INET Stream defaultProtocol) close (\c -> connect c (SockAddrInet port (tupleToHostAddress (127, 0, 0, 1)))))
  putStrLn (either (\e -> "refused" `const` (e :: IOException)) (const "connected") r)
