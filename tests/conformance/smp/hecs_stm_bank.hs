-- On several HECs: transfers between few accounts lose no money, audits see it all, and every transfer happens.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Concurrent.STM
import Control.Monad

next :: Int -> Int
next x = (x * 1103515245 + 12345) `mod` 2147483648

main :: IO ()
main = do
  accounts <- replicateM 12 (newTVarIO (1000 :: Int))
  moved <- newTVarIO (0 :: Int)
  wrong <- newTVarIO (0 :: Int)
  dones <- forM [1 .. 8] $ \k -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      let loop :: Int -> Int -> IO ()
          loop 0 _ = pure ()
          loop n seed = do
            let s1 = next seed
                s2 = next s1
                a = accounts !! (s1 `div` 7 `mod` 12)
                b = accounts !! (s2 `div` 7 `mod` 12)
            atomically $ do
              x <- readTVar a
              writeTVar a $! x - 1
              y <- readTVar b
              writeTVar b $! y + 1
              modifyTVar' moved (+ 1)
            when (n `mod` 50 == 0) $ do
              total <- atomically (sum <$> mapM readTVar accounts)
              when (total /= 12000) $ atomically (modifyTVar' wrong (+ 1))
            loop (n - 1) s2
      loop 1500 (k * 7919)
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  total <- sum <$> mapM readTVarIO accounts
  n <- readTVarIO moved
  bad <- readTVarIO wrong
  print (total, n, bad)
