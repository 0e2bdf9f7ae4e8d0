-- A signal's handler runs although another thread always has something to do, and nobody waits for time or a
-- descriptor.
-- ghc: -O
import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Posix.Signals

main :: IO ()
main = do
  seen <- newIORef (0 :: Int)
  _ <- installHandler sigUSR1 (Catch (modifyIORef' seen (+ 1))) Nothing
  forM_ [1 .. 20 :: Int] $ \k -> do
    raiseSignal sigUSR1
    let wait n = do
          got <- readIORef seen
          when (got < k) $ do
            if odd k then yield else when (product [1 .. n] < 0) yield
            wait (n + 1)
    wait (1 :: Integer)
  readIORef seen >>= print
