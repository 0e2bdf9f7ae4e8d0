-- Several transactions waiting on one TVar all wake, and those whose condition still fails wait again.
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad
import Data.List (sort)

main :: IO ()
main = do
  level <- newTVarIO (0 :: Int)
  out <- newTVarIO []
  forM_ [1 .. 10] $ \i -> forkIO $ atomically $ do
    l <- readTVar level
    check (l >= i)
    modifyTVar out (i :)
  yield
  forM_ [3, 5, 10] $ \l -> do
    atomically (writeTVar level l)
    xs <- atomically (readTVar out >>= \xs -> check (length xs == l) >> return xs)
    print (sort xs)
  -- A waiter on two variables wakes by either.
  a <- newTVarIO False
  b <- newTVarIO False
  r <- newEmptyMVar
  let wait = atomically ((readTVar a >>= check >> return "a") `orElse` (readTVar b >>= check >> return "b")) >>= putMVar r
  _ <- forkIO wait
  yield
  atomically (writeTVar b True)
  takeMVar r >>= putStrLn
  atomically (writeTVar b False)
  _ <- forkIO wait
  yield
  atomically (writeTVar a True)
  takeMVar r >>= putStrLn
