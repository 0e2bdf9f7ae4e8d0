-- The number of HECs changes all the time while threads compute, wait for each other, sleep and are
-- interrupted. Their results do not.
-- ghc: -O -threaded -with-rtsopts=-N2
-- timeout: 180
-- skip-order: it needs several HECs
-- skip-kinds: -N2 -N4; it takes HECs away, and a scheduler of the package keeps those that it has
-- skip-kinds: Lifo-N1; it waits by yielding, and under this order a thread that yields goes on
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import qualified Data.Map.Strict as M
import System.Timeout

-- Allocates, builds something that lives for a while, and shares thunks.
work :: Int -> Int
work seed = M.foldl' (+) 0 m + length shared
  where
    m = M.fromListWith (+) [((seed * k * 7919) `mod` 101, k) | k <- [1 .. 3000]]
    shared = filter even (map (* seed) [1 .. 2000])

ring :: Int -> Int -> IO Int
ring n laps = do
  first <- newEmptyMVar
  final <- foldM link first [1 .. n]
  _ <- forkIO (replicateM_ laps (takeMVar final >>= putMVar first . (+ 1)))
  putMVar first 0
  replicateM_ 50 yield
  go first
  where
    link from i = do
      to <- newEmptyMVar
      _ <- forkIO (replicateM_ laps (takeMVar from >>= putMVar to . (+ i)))
      pure to
    -- The token has gone round when it is back with everything added.
    go box = do
      v <- readMVar box
      if v >= laps * (1 + sum [1 .. n]) then pure v else yield >> go box

main :: IO ()
main = do
  stop <- newIORef False
  changed <- newEmptyMVar
  _ <- forkIO $ do
    let loop (n : ns) = do
          done <- readIORef stop
          unless done (setNumCapabilities n >> threadDelay 200 >> loop ns)
        loop [] = pure ()
    loop (cycle [1, 4, 2, 8, 3, 1, 2, 5])
    putMVar changed ()
  results <- forM [1 .. 40] $ \i -> do
    r <- newEmptyMVar
    _ <- forkIO (evaluate (work i) >>= putMVar r)
    pure r
  mapM takeMVar results >>= print . sum
  ring 20 200 >>= print
  timeouts <- forM [1 .. 20 :: Int] $ \i -> do
    r <- newEmptyMVar
    _ <- forkIO (timeout 2000 (evaluate (sum (map fromIntegral [i ..]) :: Integer)) >>= putMVar r)
    pure r
  mapM takeMVar timeouts >>= print . all (== Nothing)
  writeIORef stop True
  takeMVar changed
  setNumCapabilities 2
  getNumCapabilities >>= print
