-- On several HECs: a finalizer runs once, whether the key dies, or one or several threads finalize.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
import Control.Concurrent
import Control.Monad
import Data.IORef
import System.Mem
import System.Mem.StableName
import System.Mem.Weak

main :: IO ()
main = do
  count <- newIORef (0 :: Int)
  let ran = atomicModifyIORef' count (\n -> (n + 1, ()))
  dones <- forM [1 .. 4 :: Int] $ \_ -> do
    done <- newEmptyMVar
    _ <- forkIO $ do
      forM_ [1 .. 50 :: Int] $ \i -> do
        r <- newIORef i
        w <- mkWeakIORef r ran
        ends <- forM [1 .. 3 :: Int] $ \_ -> do
          end <- newEmptyMVar
          _ <- forkIO (finalize w >> putMVar end ())
          pure end
        a <- makeStableName r
        b <- makeStableName r
        unless (a == b) $ putStrLn "two names for one thing"
        mapM_ takeMVar ends
        gone <- deRefWeak w
        case gone of
          Nothing -> pure ()
          Just _ -> putStrLn "alive after its end"
        void (mkWeakIORef r ran)
      putMVar done ()
    pure done
  mapM_ takeMVar dones
  let settle :: Int -> IO Int
      settle 0 = readIORef count
      settle n = do
        performGC
        k <- readIORef count
        if k >= 400 then pure k else threadDelay 1000 >> settle (n - 1)
  settle 2000 >>= print
