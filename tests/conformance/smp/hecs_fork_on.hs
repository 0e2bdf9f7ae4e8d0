-- On several HECs: threads made with forkOn say and stay where they are, across waits, wake-ups by others and calls to
-- C that call back; killed ones too.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
-- skip-order: it needs several HECs
-- skip-package: a scheduler of the package decides where threads run
import Control.Concurrent
import Control.Exception
import Control.Monad
import Foreign.Ptr

foreign import ccall "wrapper" exported :: IO () -> IO (FunPtr (IO ()))
foreign import ccall safe "dynamic" imported :: FunPtr (IO ()) -> IO ()

main :: IO ()
main = do
  n <- getNumCapabilities
  print n
  baton <- newEmptyMVar
  results <- forM [0 .. 11] $ \k -> do
    r <- newEmptyMVar
    _ <- forkOn k $ do
      oks <- forM [1 .. 50 :: Int] $ \_ -> do
        x <- takeMVar baton
        here <- myThreadId >>= threadCapability
        putMVar baton $! (x + 1 :: Int)
        pure (here == (k `mod` n, True))
      putMVar r (and oks)
    pure r
  putMVar baton 0
  mapM takeMVar results >>= print . and
  takeMVar baton >>= print
  killed <- forM [0 .. 11] $ \k -> do
    r <- newEmptyMVar
    ready <- newEmptyMVar
    t <- forkOn k $ (putMVar ready () >> threadDelay 100000000) `catch` \e -> do
      here <- myThreadId >>= threadCapability
      putMVar r (e == ThreadKilled, here == (k `mod` n, True))
    takeMVar ready
    killThread t
    takeMVar r
  print (all (== (True, True)) killed)
  back <- exported (yield >> void (forkIO yield))
  callers <- forM [0 .. 7] $ \k -> do
    r <- newEmptyMVar
    _ <- forkOn k $ do
      oks <- replicateM 100 $ do
        imported back
        here <- myThreadId >>= threadCapability
        pure (here == (k `mod` n, True))
      putMVar r (and oks)
    pure r
  mapM takeMVar callers >>= print . and
