-- Hand-over by MVar between many threads without OS threads: strict rotation.
-- ghc: -O
import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  slots <- replicateM 50 newEmptyMVar
  out <- newMVar []
  finished <- newEmptyMVar
  forM_ (zip3 [0 :: Int ..] slots (tail slots ++ [head slots])) $ \(i, mine, next) -> forkIO $ do
    forM_ [1 .. 20 :: Int] $ \_ -> do
      n <- takeMVar mine
      when (i `mod` 10 == 0) (modifyMVar_ out (return . ((i + n) :)))
      if n == 999 then putMVar finished () else putMVar next (n + 1 :: Int)
  putMVar (head slots) 0
  takeMVar finished
  xs <- takeMVar out
  print (length xs, sum xs, take 5 xs)
