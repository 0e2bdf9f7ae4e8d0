-- throwSTM, catchSTM with roll-back of the protected part, and errors in pure code within a transaction.
import Control.Concurrent.STM
import Control.Exception

main :: IO ()
main = do
  a <- newTVarIO (1 :: Int)
  b <- newTVarIO 1
  r <- try (atomically (writeTVar a 2 >> throwSTM (userError "abort"))) :: IO (Either IOException ())
  va <- readTVarIO a
  print (r, va)
  x <- atomically $ do
    writeTVar a 10
    y <- (writeTVar a 20 >> writeTVar b 20 >> throwSTM (userError "inner")) `catchSTM` \e -> do
      now <- readTVar a
      nowB <- readTVar b
      return (show (e :: IOException), now, nowB)
    writeTVar b 30
    return y
  vs <- (,) <$> readTVarIO a <*> readTVarIO b
  print (x, vs)
  -- Successful protected part: its writes stay.
  atomically ((writeTVar a 40 >> return ()) `catchSTM` \e -> throwSTM (e :: IOException))
  readTVarIO a >>= print
  -- Another exception type passes through and rolls back everything.
  r2 <- try (atomically (writeTVar a 50 >> (throwSTM Overflow `catchSTM` \e -> const (return ()) (e :: IOException)))) :: IO (Either ArithException ())
  va2 <- readTVarIO a
  print (r2, va2)
  -- retry passes through catchSTM, orElse inside and outside of it.
  r3 <- atomically (((writeTVar a 60 >> retry) `catchSTM` \e -> return (show (e :: SomeException))) `orElse` (show <$> readTVar a))
  putStrLn r3
  r4 <- atomically ((((writeTVar a 61 >> throwSTM Underflow) `orElse` return "no") `catchSTM` \e -> (\v -> show (e :: ArithException) ++ show v) <$> readTVar a))
  putStrLn r4
  r5 <- try (atomically (readTVar a >>= \v -> writeTVar b 99 >> (if v `div` 0 == 1 then return () else return ()))) :: IO (Either ArithException ())
  vb <- readTVarIO b
  print (r5, vb)
  -- Nested three deep.
  r6 <- atomically ((writeTVar a 1 >> ((writeTVar a 2 >> ((writeTVar a 3 >> throwSTM Overflow) `catchSTM` \e -> const (readTVar a >>= \v -> throwSTM (userError (show v))) (e :: ArithException))) `catchSTM` \e -> (\v -> (show (e :: IOException), v)) <$> readTVar a)))
  print r6
  readTVarIO a >>= print
