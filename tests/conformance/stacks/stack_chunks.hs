-- Stacks that grow and shrink across small chunk borders, with every number of frames near a border.
-- args: +RTS -ki1k -kc2k -kb1k -RTS
import Control.Concurrent
import Control.Exception

depth :: Int -> IO Int
depth 0 = return 0
depth n = do
  x <- depth (n - 1)
  return $! x + 1

wiggle :: Int -> Int -> Int
wiggle 0 acc = acc
wiggle n acc = wiggle (n - 1) (go (n `mod` 300) + acc)
  where go 0 = 1
        go k = 1 + go (k - 1)
{-# NOINLINE wiggle #-}

main :: IO ()
main = do
  mapM depth [0 .. 400] >>= print . sum
  print (wiggle 20000 0)
  done <- newEmptyMVar
  _ <- forkIO (depth 50000 >>= putMVar done)
  takeMVar done >>= print
  r <- try (depth 3000 >>= \n -> evaluate (n `div` 0)) :: IO (Either ArithException Int)
  print r
  ms <- mapM (\k -> do { v <- newEmptyMVar; _ <- forkIO (depth (k * 37) >>= putMVar v); return v }) [1 .. 100]
  mapM takeMVar ms >>= print . sum
