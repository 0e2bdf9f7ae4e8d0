-- A thread is in a long foreign call, safe or unsafe, or in a loop that does not allocate: the delays, limits and waits
-- of others are served, also those that began on its HEC.
-- ghc: -O -threaded -with-rtsopts=-N2
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Foreign.C
import GHC.Clock
import System.Posix.IO
import System.Timeout
import Waits

foreign import ccall safe "usleep" safeSleep :: CUInt -> IO CInt
foreign import ccall unsafe "usleep" unsafeSleep :: CUInt -> IO CInt

-- Takes long, and never lets the HEC go.
spin :: Int -> Int
spin 0 = 0
spin n = spin (n - 1)
{-# NOINLINE spin #-}

-- Threads on both HECs wait in all ways; then one HEC is taken. Does all come to its end before the call does, or for
-- threads that are bound to its HEC, soon after?
beside :: String -> (Int -> IO ()) -> IO ()
beside what busy = do
  (r, w) <- createPipe
  let acts =
        [ threadDelay 5000, registerDelay 5000 >>= \v -> atomically (readTVar v >>= check)
        , void (timeout 5000 (threadDelay 100000000)), threadWaitRead r ]
  free <- forM acts (spawnBy (forkOn 0))
  tied <- forM acts (spawnBy (forkOn 1))
  ended <- newEmptyMVar
  _ <- forkOn 1 (busy 200000 >> getMonotonicTime >>= putMVar ended)
  _ <- fdWrite w "x"
  mapM_ (readMVar . snd) free
  mapM_ (readMVar . snd) tied
  served <- getMonotonicTime
  end <- takeMVar ended
  putStrLn (what ++ ": " ++ if served - end < 0.5 then "all served" else "late")
main :: IO ()
main = do
  beside "safe call" (void . safeSleep . fromIntegral)
  beside "unsafe call" (void . unsafeSleep . fromIntegral)
  beside "loop" (\us -> when (spin (us * 200) > 0) (putStrLn "no"))
  -- A safe call holds nobody up: 50 short delays in a row beside it.
  end <- newEmptyMVar
  _ <- forkOS (safeSleep 500000 >> getMonotonicTime >>= putMVar end)
  replicateM_ 50 (threadDelay 1000)
  mine <- getMonotonicTime
  theirs <- takeMVar end
  putStrLn (if mine < theirs then "before the call's end" else "after it")
