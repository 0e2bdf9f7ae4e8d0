-- Dining philosophers with TMVars and with blocking alternatives: everybody eats the same number of times.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

main :: IO ()
main = do
  let n = 7
  forks <- replicateM n (newTMVarIO ())
  meals <- replicateM n (newTVarIO (0 :: Int))
  forM_ [0 .. n - 1] $ \i -> forkIO $ replicateM_ 100 $ do
    let l = forks !! i
        r = forks !! ((i + 1) `mod` n)
    atomically (takeTMVar l >> takeTMVar r)
    when (i == 3) yield
    atomically (modifyTVar' (meals !! i) (+ 1))
    atomically (putTMVar l () >> putTMVar r ())
  atomically (forM_ meals (\m -> readTVar m >>= check . (== 100)))
  mapM readTVarIO meals >>= print
