-- Several threads throw to one masked target: each exception is delivered once, and each thrower continues.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.List (sort)

main :: IO ()
main = do
  ready <- newEmptyMVar
  result <- newEmptyMVar
  thrown <- newEmptyMVar
  target <- mask_ $ forkIO $ do
    putMVar ready ()
    block <- newEmptyMVar
    got <- replicateM 8 ((takeMVar block >> return "none") `catch` \(ErrorCall s) -> return s)
    putMVar result got
  takeMVar ready
  forM_ [1 .. 8 :: Int] $ \i -> forkIO (throwTo target (ErrorCall ("e" ++ show i)) >> putMVar thrown ())
  got <- takeMVar result
  replicateM_ 8 (takeMVar thrown)
  print (sort got)
  -- Two threads kill each other; at least one dies, and nobody hangs.
  forM_ [1 .. 20 :: Int] $ \_ -> do
    ta <- newEmptyMVar
    tb <- newEmptyMVar
    d <- newEmptyMVar
    a <- forkFinally (takeMVar tb >>= killThread) (\e -> putMVar d (either (const 1) (const 0) e))
    b <- forkFinally (takeMVar ta >>= killThread) (\e -> putMVar d (either (const 1) (const 0 :: () -> Int) e))
    putMVar ta a
    putMVar tb b
    n <- (+) <$> takeMVar d <*> takeMVar d
    when (n < 1 || n > 2) (putStrLn "wrong")
  putStrLn "done"
