-- forkProcess on another HEC than the first: the child's main thread, woken there while its OS thread runs other
-- threads on the first HEC, gets to run.
-- ghc: -threaded -O
-- args: +RTS -N2 -I0 -RTS
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Posix.Process

work :: Int -> IO ()
work n = void (evaluate (length (filter even (map (`mod` 7) [1 .. n]))))

child :: IO ()
child = do
  soon <- newEmptyMVar
  late <- newEmptyMVar
  _ <- forkOn 0 (work 10000000 >> putMVar late ())
  _ <- forkOn 1 (work 100000 >> putMVar soon ())
  takeMVar soon
  takeMVar late

main :: IO ()
main = forM_ [1 .. 3 :: Int] $ \_ -> do
  -- Woken by the second HEC, the main thread goes on there.
  woken <- newEmptyMVar
  _ <- forkOn 1 (work 1000000 >> putMVar woken ())
  takeMVar woken
  forkProcess child >>= getProcessStatus True False >>= print
