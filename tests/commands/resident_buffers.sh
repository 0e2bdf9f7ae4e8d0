# Buffers that nobody writes to take no memory of the system: a program that makes many is as small as on the stock
# runtime, at the same moment.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Buffers.hs <<'END'
import Control.Monad
import Data.IORef
import qualified Data.ByteString.Internal as B
import Foreign.ForeignPtr
import System.Environment
import System.Mem

rss :: IO Int
rss = do
  s <- readFile "/proc/self/status"
  return $! read (words (head [l | l <- lines s, take 6 l == "VmRSS:"]) !! 1)

-- Makes a number of pinned buffers of a given size, with small objects between them.
main :: IO ()
main = do
  [n, bytes, between] <- map read <$> getArgs
  bs <- forM [1 .. n :: Int] $ \_ -> do
    b <- B.mallocByteString bytes
    x <- newIORef (0 :: Int)
    forM_ [1 .. between] $ \k -> modifyIORef x (+ k)
    readIORef x >>= \v -> when (v < 0) (print v)
    return b
  made <- rss
  performMajorGC
  collected <- rss
  mapM_ touchForeignPtr bs
  print made >> print collected
END
cat >Server.hs <<'END'
import Control.Concurrent
import Control.Monad
import Network.Socket
import qualified Network.Socket.ByteString as B
import System.Environment
import System.Mem

rss :: IO Int
rss = do
  s <- readFile "/proc/self/status"
  return $! read (words (head [l | l <- lines s, take 6 l == "VmRSS:"]) !! 1)

-- The given number of connections rest, each with a thread that receives into a buffer of 32 KB.
main :: IO ()
main = do
  [n] <- map read <$> getArgs
  listening <- socket AF_INET Stream defaultProtocol
  bind listening (SockAddrInet 0 (tupleToHostAddress (127, 0, 0, 1)))
  listen listening 1024
  at <- getSocketName listening
  begun <- newQSemN 0
  _ <- forkIO $ forever $ do
    (s, _) <- accept listening
    forkIO $ do
      signalQSemN begun 1
      void (B.recv s 32768)
  clients <- forM [1 .. n :: Int] $ \_ -> do
    s <- socket AF_INET Stream defaultProtocol
    connect s at
    waitQSemN begun 1
    return s
  -- All threads have come to rest when this one is the only one that runs.
  replicateM_ 1000 yield
  resting <- rss
  performMajorGC
  collected <- rss
  print resting >> print collected
  mapM_ close clients
END

# small PROGRAM ARGUMENT… : takes at most 1.3 times what the stock runtime takes, and 2 MB for the runtime itself.
# Nurseries have a size that is named: otherwise larger ones are tried, by time, up to what is alive.
small() {
    local program=$1 stock ours i
    shift
    stock=($(./stock-$program "$@" +RTS -A960k))
    ours=($(./ours-$program "$@" +RTS -A960k))
    for i in 0 1; do
        [ $((ours[i] * 10)) -le $((stock[i] * 13 + 20000)) ] ||
            fail "$program $*: ${ours[*]} KB are resident, ${stock[*]} on the stock runtime"
    done
}

for program in Buffers Server; do
    for flags in '' -threaded; do
        ghc -v0 -O -rtsopts $flags -outputdir stock$flags -o stock-$program$flags $program.hs
        "$HECATON" ghc -v0 -O -rtsopts $flags -outputdir ours$flags -o ours-$program$flags $program.hs
        rm -f stock$flags/Main.* ours$flags/Main.*
    done
done

for flags in '' -threaded; do
    small Buffers$flags 2000 32768 1000
    small Buffers$flags 2000 32768 0
    small Buffers$flags 2000 8192 1000
    small Buffers$flags 2000 4096 1000
    small Buffers$flags 1000 100000 100
    small Buffers$flags 100 1000000 0
    small Server$flags 450
done
# Two descriptors for each connection.
if ulimit -n 6000 2>/dev/null; then
    small Server-threaded 2000
fi
