-- On several HECs: producers and consumers of bounded queues wake each other by retry, with alternatives; nothing is
-- lost or doubled.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

type Queue = TVar [Int]

put :: Queue -> Int -> STM ()
put q x = do
  xs <- readTVar q
  when (length xs >= 3) retry
  writeTVar q (xs ++ [x])

get :: Queue -> STM Int
get q = do
  xs <- readTVar q
  case xs of
    [] -> retry
    y : ys -> writeTVar q ys >> pure y

main :: IO ()
main = do
  p <- newTVarIO []
  q <- newTVarIO []
  result <- newTVarIO (0, 0)
  forM_ [0 .. 5] $ \k -> forkIO $ forM_ [1 .. 500] $ \i -> do
    let x = k * 500 + i
    atomically $ if even i then put p x `orElse` put q x else put q x `orElse` put p x
  forM_ [0 .. 4 :: Int] $ \k -> forkIO $ forM_ [1 .. 600 :: Int] $ \_ -> do
    x <- atomically $ if even k then get p `orElse` get q else get q `orElse` get p
    atomically $ do
      (n, s) <- readTVar result
      let n' = n + 1; s' = s + x
      n' `seq` s' `seq` writeTVar result (n' :: Int, s')
  r <- atomically $ do
    r@(n, _) <- readTVar result
    when (n < 3000) retry
    pure r
  print (r == (3000, sum [1 .. 3000]))
