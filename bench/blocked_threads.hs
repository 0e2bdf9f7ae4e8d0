-- Many threads: half a million blocked at once, each on an MVar of its own, and then woken.
-- aim: elapsed 0.5
-- aim: memory 0.5
-- args: 500000
import Control.Concurrent
import Control.Monad
import System.Environment
import System.Mem

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  ended <- newEmptyMVar
  vars <- forM [1 .. n] $ \i -> do
    v <- newEmptyMVar
    _ <- forkIO (takeMVar v >>= \x -> when (x == n) (putMVar ended i))
    return v
  yield
  performMajorGC
  forM_ (zip vars [1 ..]) (uncurry putMVar)
  takeMVar ended >>= print
