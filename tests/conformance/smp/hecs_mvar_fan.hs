-- On several HECs: a ring of MVars with tokens, many producers to one consumer, and one producer to many; nothing is
-- lost or doubled.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Monad

ring :: Int -> Int -> IO Int
ring n laps = do
  vs <- replicateM n newEmptyMVar
  done <- newEmptyMVar
  forM_ (zip vs (tail vs ++ [head vs])) $ \(a, b) -> forkIO $ do
    forM_ [1 .. laps] $ \_ -> takeMVar a >>= \x -> putMVar b $! x + 1
    putMVar done ()
  forM_ (zip [0 :: Int ..] vs) $ \(i, v) -> when (i `mod` 8 == 0) $ putMVar v 0
  replicateM_ n (takeMVar done)
  sum <$> mapM takeMVar [v | (i, v) <- zip [0 :: Int ..] vs, i `mod` 8 == 0]

fanIn :: Int -> Int -> IO (Int, Int)
fanIn producers each = do
  v <- newEmptyMVar
  forM_ [1 .. producers] $ \k -> forkIO $ forM_ [1 .. each] $ \i -> putMVar v (k * i)
  xs <- replicateM (producers * each) (takeMVar v)
  pure (length xs, sum xs)

fanOut :: Int -> Int -> IO Int
fanOut consumers each = do
  v <- newEmptyMVar
  gate <- newEmptyMVar
  sums <- forM [1 .. consumers] $ \_ -> do
    out <- newEmptyMVar
    _ <- forkIO $ do
      () <- readMVar gate
      xs <- replicateM each (takeMVar v)
      putMVar out $! sum xs
    pure out
  putMVar gate ()
  forM_ [1 .. consumers * each] $ putMVar v
  sum <$> mapM takeMVar sums

tries :: IO Int
tries = do
  v <- newMVar (0 :: Int)
  dones <- forM [1 .. 6 :: Int] $ \_ -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      let go :: Int -> IO ()
          go 0 = pure ()
          go n = do
            r <- tryTakeMVar v
            case r of
              Nothing -> yield >> go n
              Just x -> do
                ok <- tryPutMVar v $! x + 1
                if ok then go (n - 1) else putStrLn "somebody else has put"
      go 500
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  takeMVar v

main :: IO ()
main = do
  ring 64 100 >>= print
  fanIn 20 200 >>= print
  fanOut 10 300 >>= print
  tries >>= print
