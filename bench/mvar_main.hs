-- MVars: a token passed between main, which is a bound thread, and another thread.
-- aim: elapsed 0.1
-- args: 60000
import Control.Concurrent
import Control.Monad
import System.Environment

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  a <- newEmptyMVar
  b <- newEmptyMVar
  _ <- forkIO (forever (takeMVar a >>= \x -> putMVar b $! x * 3 `mod` 1000003))
  r <- foldM (\x _ -> putMVar a (x + 1) >> takeMVar b) (1 :: Int) [1 .. n]
  print r
