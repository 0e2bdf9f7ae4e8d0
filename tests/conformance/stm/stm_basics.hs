-- Transactions: read, write, retry, orElse nesting, check, swap, state and visibility after commit.
import Control.Concurrent
import Control.Concurrent.STM

main :: IO ()
main = do
  a <- newTVarIO (1 :: Int)
  b <- newTVarIO 10
  atomically (readTVar a >>= \x -> modifyTVar' b (+ x) >> writeTVar a (x * 100))
  readTVarIO a >>= print
  readTVarIO b >>= print
  r <- atomically ((writeTVar a 5 >> retry) `orElse` (readTVar a >>= \x -> return ("second", x)))
  print r
  r2 <- atomically (((writeTVar a 7 >> retry) `orElse` (writeTVar b 8 >> retry)) `orElse` ((,) <$> readTVar a <*> readTVar b))
  print r2
  r3 <- atomically (((writeTVar a 7 >> return 'x') `orElse` return 'y') `orElse` return 'z')
  v <- readTVarIO a
  print (r3, v)
  x <- atomically (swapTVar a 77)
  y <- atomically (stateTVar a (\s -> (s + 1, s * 2)))
  z <- readTVarIO a
  print (x, y, z)
  out <- newEmptyMVar
  _ <- forkIO (atomically (readTVar b >>= \n -> check (n > 1000) >> return n) >>= putMVar out)
  mapM_ (\n -> atomically (writeTVar b n) >> yield) [100, 500, 999, 1001]
  takeMVar out >>= print
  -- Inside one transaction, writes are seen and a new TVar can be used.
  w <- atomically (do { t <- newTVar 1; modifyTVar t (+ 1); n <- readTVar t; writeTVar a n; m <- readTVar a; return (n, m, t) })
  let (n, m, t) = w
  q <- readTVarIO t
  print (n, m, q)
  print (a == a, a == t)
