# How long threads wait until they run: threads that a server makes beside CPU-bound ones, threads that run for some
# milliseconds at a time beside these, and threads that wait while time slices end in the midst of collections. Both
# runtimes run at the same moment, under the same load. In one of three rounds at least, no thread waits for more than
# twice as long as on the stock runtime.
. "${BASH_SOURCE[0]%/*}/common.bash"

cat >Turns.hs <<'HASKELL'
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Data.List
import GHC.Clock
import System.CPUTime
import System.Environment

-- Computes, allocating, until told to stop.
spin :: IORef Bool -> IO ()
spin stop = go (0 :: Integer)
  where
    go n = do
      stopped <- readIORef stop
      unless stopped (n `seq` go (n + 1))

busy :: Int -> IO a -> IO a
busy n act = do
  stop <- newIORef False
  ended <- newEmptyMVar
  replicateM_ n (forkIO (spin stop >> putMVar ended ()))
  r <- act
  writeIORef stop True
  replicateM_ n (takeMVar ended)
  return r

inNewThread :: IO a -> IO a
inNewThread act = do
  done <- newEmptyMVar
  _ <- forkIO (act >>= putMVar done)
  takeMVar done

since :: Double -> IO Double
since begin = (\now -> (now - begin) * 1000) <$> getMonotonicTime

-- A thread for each request: how long half of them wait at least before they run, in milliseconds.
serve :: Int -> IO Double
serve n = do
  waits <- newChan
  _ <- forkIO $ replicateM_ n $ do
    threadDelay 5000
    asked <- getMonotonicTime
    forkIO (since asked >>= writeChan waits)
  (!! (n `div` 2)) . sort <$> replicateM n (readChan waits)

build :: Int -> Int -> Int
build seed n = sum (map (length . show) [seed .. seed + n])

-- How much of it takes a given number of milliseconds of CPU time.
calibrate :: Double -> IO Int
calibrate ms = go 1000
  where
    go n = do
      begin <- getCPUTime
      _ <- evaluate (build 0 n)
      end <- getCPUTime
      let part = ms / (fromIntegral (end - begin) / 1e9)
      if part > 1 then go (2 * n) else return (round (part * fromIntegral n))

-- Builds something and pauses, again and again: how long that takes each time but for the slowest quarter, at most.
frames :: Int -> Int -> IO Double
frames n count = do
  took <- forM [1 .. count] $ \i -> do
    begin <- getMonotonicTime
    _ <- evaluate (build i n)
    threadDelay 5000
    since begin
  return (sortBy (flip compare) took !! (count `div` 4))

endless :: Integer -> IO ()
endless n = evaluate (sum [n .. n + 100]) >> endless (n + 1)
{-# NOINLINE endless #-}

-- Four at once of a thread that computes, against a delay.
race :: IO Double
race = do
  begin <- getMonotonicTime
  done <- newEmptyMVar
  replicateM_ 4 $ forkIO $ do
    due <- newEmptyMVar
    s <- forkIO (endless 0)
    _ <- forkIO (threadDelay 100000 >> putMVar due ())
    takeMVar due
    killThread s
    putMVar done ()
  replicateM_ 4 (takeMVar done)
  since begin

main :: IO ()
main = do
  [what] <- getArgs
  took <- case what of
    "requests" -> busy 4 (serve 20)
    "frames" -> calibrate 10 >>= \n -> busy 4 (inNewThread (frames n 70))
    "collections" -> minimum <$> replicateM 4 race
    _ -> fail what
  print (round (took * 1000) :: Int)
HASKELL
ghc -v0 -O -rtsopts -threaded -outputdir o -o stock Turns.hs
"$HECATON" ghc -v0 -O -rtsopts -threaded -outputdir o -o ours Turns.hs

# in_time WHAT FLAG… : how long it takes on both, in microseconds.
in_time() {
    local round stock ours
    for round in 1 2 3; do
        ./stock "$1" +RTS "${@:2}" >stock.out &
        ./ours "$1" +RTS "${@:2}" >ours.out
        wait $!
        read -r stock <stock.out
        read -r ours <ours.out
        echo "$1: $ours us, at the same moment on the stock runtime $stock us"
        [ "$ours" -gt $((2 * stock)) ] || return 0
    done
    fail "$1: too late"
}

in_time requests -N1
in_time frames -N1
in_time collections -N4 -A64k
