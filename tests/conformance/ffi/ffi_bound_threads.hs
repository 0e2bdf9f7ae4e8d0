-- Bound threads: which are, OS thread identity across calls, runInBoundThread and runInUnboundThread.
import Control.Concurrent
import Control.Exception
import Foreign.C

foreign import ccall unsafe "pthread_self" self :: IO CULong
foreign import ccall safe "pthread_self" selfSafe :: IO CULong

main :: IO ()
main = do
  print rtsSupportsBoundThreads
  isCurrentThreadBound >>= print
  a <- self
  yield
  threadDelay 1000
  b <- selfSafe
  print (a == b)
  out <- newEmptyMVar
  _ <- forkOS $ do
    bnd <- isCurrentThreadBound
    x <- self
    threadDelay 1000
    m <- newEmptyMVar
    _ <- forkIO (putMVar m ())
    takeMVar m
    y <- selfSafe
    putMVar out (bnd, x == y, x /= a)
  takeMVar out >>= print
  _ <- forkIO $ do
    bnd <- isCurrentThreadBound
    inner <- runInBoundThread isCurrentThreadBound
    r <- try (runInBoundThread (throwIO (userError "from bound"))) :: IO (Either IOException ())
    putMVar out (bnd, inner, either (const True) (const False) r)
  takeMVar out >>= print
  u <- runInUnboundThread isCurrentThreadBound
  r <- try (runInUnboundThread (evaluate (1 `div` (0 :: Int)))) :: IO (Either ArithException Int)
  print (u, r)
  ids <- mapM (\_ -> do { v <- newEmptyMVar; _ <- forkOS (self >>= putMVar v); takeMVar v }) [1 .. 5 :: Int]
  print (all (/= a) ids)
  started <- newEmptyMVar
  t <- forkOS ((putMVar started () >> threadDelay 100000000) `catch` \e -> putMVar out (False, False, e == ThreadKilled))
  takeMVar started
  threadDelay 2000
  killThread t
  takeMVar out >>= print
