-- forkOS frees the stable pointer that it makes once, and nobody else's.
import Control.Concurrent
import Control.Monad
import Foreign.StablePtr

main :: IO ()
main = do
  kept <- forM [1 .. 20 :: Int] $ \i -> do
    done <- newEmptyMVar
    go <- newEmptyMVar
    -- Its own has been freed when forkOS returns; what is made now may be in its place while the thread still runs.
    _ <- forkOS (takeMVar go >> putMVar done ())
    p <- newStablePtr (show i)
    putMVar go ()
    takeMVar done
    threadDelay 1000
    return p
  more <- forM [1 .. 20 :: Int] (newStablePtr . show . negate)
  print . length . filter id $ [p == q | p <- kept, q <- more]
  mapM_ (putStrLn <=< deRefStablePtr) (kept ++ more)
