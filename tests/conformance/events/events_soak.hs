-- A server and clients that connect, stall, send half of a request, reset the connection and vanish, on one, two and
-- four HECs: those that behave get right answers, and every descriptor is closed in the end.
-- SOAK_SECONDS in the environment is how long each part lasts, instead of one second.
-- needs: network
-- skip-stress: time limits
-- timeout: 120
-- skip-kinds: -N2 -N4; it takes HECs away, and a scheduler of the package keeps those that it has
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString.Char8 as B
import Data.IORef
import GHC.Clock
import Network.Socket
import Network.Socket.ByteString
import System.Directory
import System.Environment
import System.Timeout
import Ticker

-- A request is a line; its answer is the line reversed.
serve :: Socket -> IO ()
serve s = go B.empty
  where
    go left = case B.elemIndex '\n' left of
      Just i -> sendAll s (B.reverse (B.take i left) `B.snoc` '\n') >> go (B.drop (i + 1) left)
      Nothing -> do
        more <- timeout limit (recv s 4096)
        case more of
          Just bytes | not (B.null bytes) -> go (left <> bytes)
          _ -> return ()

-- How long the server waits for a client.
limit :: Int
limit = 2000000

data World = World {address :: SockAddr, over :: IO Bool, wrong, answered, dropped :: IORef Int}

count :: IORef Int -> IO ()
count r = atomicModifyIORef' r (\n -> (n + 1, ()))

connected :: World -> (Socket -> IO a) -> IO a
connected world = bracket (socket AF_INET Stream defaultProtocol) close . (\act s -> connect s (address world) >> act s)

-- Several requests in one connection, with pauses, in one piece or in two.
behaves, stalls, halves, resets, vanishes, isKilled, isDropped :: World -> Int -> IO ()
behaves world n = connected world $ \s -> forM_ [1 .. 10 :: Int] $ \k -> do
  let line = B.pack (concat (replicate (1 + (n * k) `mod` 40) (show n ++ " of " ++ show k ++ ";")))
      (first, second) = B.splitAt (k * B.length line `div` 10) (line `B.snoc` '\n')
      collect got
        | B.length got > B.length line = return got
        | otherwise = recv s 4096 >>= \m -> if B.null m then return got else collect (got <> m)
  sendAll s first
  when (even k) (threadDelay 500)
  sendAll s second
  got <- collect B.empty
  count (if got == B.reverse line `B.snoc` '\n' then answered world else wrong world)
stalls world _ = connected world $ \_ -> threadDelay 20000
halves world _ = connected world $ \s -> sendAll s (B.pack "half of a request") >> threadDelay 2000
resets world _ = connected world $ \s -> do
  sendAll s (B.pack (replicate 1000 'x' ++ "\n"))
  setSockOpt s Linger (StructLinger 1 0)
vanishes world _ = connected world (const (return ()))
isKilled world _ = do
  ended <- newEmptyMVar
  t <- forkFinally (connected world (`recv` 1)) (const (putMVar ended ()))
  threadDelay 2000 >> killThread t >> takeMVar ended
-- The server closes the connection in the end.
isDropped world _ = connected world $ \s -> do
  sendAll s (B.pack "no end")
  end <- B.null <$> recv s 1
  when end (count (dropped world))

descriptors :: IO Int
descriptors = length <$> listDirectory "/proc/self/fd"

part :: Double -> Int -> IO ()
part seconds hecs = do
  setNumCapabilities hecs
  -- What the runtime opens once is open now.
  _ <- timeout 1000 (threadDelay 1000000)
  before <- descriptors
  server <- socket AF_INET Stream defaultProtocol
  bind server (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen server 100
  name <- getSocketName server
  begin <- getMonotonicTime
  serving <- newIORef (0 :: Int)
  world <- World name ((> begin + seconds) <$> getMonotonicTime) <$> newIORef 0 <*> newIORef 0 <*> newIORef 0
  let serveOne c = do
        r <- try (serve c) :: IO (Either IOException ())
        close c
        atomicModifyIORef' serving (\n -> (n - 1, ()))
        return (either (const ()) id r)
  accepts <- forkIO $ forever $ mask_ $ do
    (c, _) <- accept server
    atomicModifyIORef' serving (\n -> (n + 1, ()))
    forkIO (serveOne c)
  let client kind i = do
        v <- newEmptyMVar
        -- Connections may fail as their peers do; only wrong answers count.
        let one = void (try (kind world i) :: IO (Either IOException ()))
            go = one >> over world >>= \stop -> unless stop go
        _ <- forkIO (go `finally` putMVar v ())
        return v
      kinds = replicate 6 behaves ++ [stalls, halves, resets, resets, vanishes, isKilled, isDropped]
  zipWithM client kinds [1 ..] >>= mapM_ takeMVar
  killThread accepts
  close server
  let wait n = readIORef serving >>= \k -> when (k > 0 && n > (0 :: Int)) (threadDelay 10000 >> wait (n - 1))
  wait 1000
  readIORef serving >>= \n -> putStrLn ("connections left: " ++ show n)
  readIORef (wrong world) >>= \n -> putStrLn ("wrong answers: " ++ show n)
  some <- (> 0) <$> readIORef (answered world)
  ended <- (> 0) <$> readIORef (dropped world)
  putStrLn ("answered: " ++ show some ++ ", dropped one that stalled: " ++ show ended)
  after <- descriptors
  putStrLn ("descriptors left: " ++ show (after - before))

main :: IO ()
main = do
  awaitTicker
  seconds <- maybe 1 read <$> lookupEnv "SOAK_SECONDS"
  forM_ [1, 2, 4] $ \hecs -> print hecs >> part seconds hecs
