-- The number of HECs goes up and down all the time, with waits and delays that are answered all the time.
-- skip-kinds: -N2 -N4; it takes HECs away, and a scheduler of the package keeps those that it has
import Control.Concurrent
import Control.Monad
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (a, b) <- socketPair
  _ <- forkOn 1 (forever (threadWaitRead b >> fdRead b 1 >>= fdWrite b . fst))
  forM_ [1 .. 60 :: Int] $ \i -> do
    setNumCapabilities (1 + i `mod` 4)
    sleeper <- newEmptyMVar
    _ <- forkOn i (threadDelay 500 >> putMVar sleeper ())
    _ <- fdWrite a "x"
    threadWaitRead a
    _ <- fdRead a 1
    takeMVar sleeper
  putStrLn "done"
