-- Computations hundreds of thousands of frames and update frames deep, interrupted again and again, finished later.
import Control.Concurrent
import Control.Exception
import Control.Monad

attempts :: Int -> a -> IO ()
attempts n x = forM_ [1 .. n] $ \k -> do
  t <- forkIO (void (evaluate x))
  replicateM_ (k `mod` 4) yield
  killThread t

main :: IO ()
main = do
  let plain = foldr (\a b -> a + b) 0 [1 .. 400000] :: Integer
  attempts 12 plain
  print plain
  -- A chain of thunks, each an update frame on the stack.
  let chain = foldl (\a b -> a + b * 2) 0 [1 .. 300000] :: Integer
      links = scanl (\a b -> a + b) 0 [1 .. 100000] :: [Integer]
  attempts 12 chain
  attempts 5 (last links)
  print (chain, last links, links !! 50000)
  -- Frozen while it holds a handler and a mask.
  let deepIO :: Int -> IO Int
      deepIO 0 = evaluate (length (show (product [1 .. 800 :: Integer])))
      deepIO n = (+ 1) <$> (deepIO (n - 1) `catch` \e -> throwIO (e :: ArithException))
  forM_ [1 .. 5 :: Int] $ \k -> do
    t <- forkIO (void (deepIO 20000))
    replicateM_ k yield
    killThread t
  deepIO 20000 >>= print
