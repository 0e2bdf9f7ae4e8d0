-- On several HECs: a thread that is stopped for good in the midst of a modification, or has made one that nobody needs,
-- is in nobody's way.
-- ghc: -threaded -O
-- args: +RTS -N4 -RTS
{-# LANGUAGE MagicHash, UnboxedTuples #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import GHC.Exts
import GHC.IO (IO (..))
import GHC.IORef (IORef (..))
import GHC.STRef (STRef (..))
import System.Timeout

-- The primitive operation itself: nothing is evaluated.
modifyLazily :: IORef a -> (a -> (a, b)) -> IO (a, (a, b))
modifyLazily (IORef (STRef v)) f = IO $ \s -> case atomicModifyMutVar2# v f s of
  (# s1, old, r #) -> (# s1, (old, r) #)
{-# NOINLINE modifyLazily #-}

replaceLazily :: IORef a -> (a -> a) -> IO ()
replaceLazily (IORef (STRef v)) f = IO $ \s -> case atomicModifyMutVar_# v f s of
  (# s1, _, _ #) -> (# s1, () #)
{-# NOINLINE replaceLazily #-}

-- Never ends, and allocates.
forever_ :: Integer -> a
forever_ n = if n < 0 then error "no" else forever_ (n + 1)
{-# NOINLINE forever_ #-}

together :: Int -> (Int -> IO ()) -> IO ()
together n act = do
  dones <- forM [0 .. n - 1] $ \k -> do
    done <- newEmptyMVar
    _ <- forkFinally (act k) (putMVar done)
    return done
  forM_ dones $ takeMVar >=> either throwIO return

-- A loaded machine may keep all threads that modify it from running for long.
untilModified :: IORef Int -> IO ()
untilModified r = readIORef r >>= \n -> when (n == 0) (threadDelay 1000 >> untilModified r)

main :: IO ()
main = do
  ref <- newIORef (0 :: Int)
  -- Lazy modifications beside strict ones; what never ends is never needed, for it is overwritten or passed over.
  together 4 $ \k -> forM_ [1 .. 2000 :: Int] $ \i -> case k of
    3 | i `mod` 400 == 0 -> do
      _ <- modifyLazily ref (\n -> (n + 1, forever_ 1 :: Int))
      replaceLazily ref (const (i `seq` 7))
    _ -> atomicModifyIORef' ref (\n -> (n + 1, ()))
  n <- readIORef ref
  print (n >= 7)
  other <- newIORef (0 :: Int)
  _ <- modifyLazily other (\_ -> forever_ 1)
  writeIORef other 5
  replaceLazily other (\_ -> forever_ 2)
  replaceLazily other (const 6)
  readIORef other >>= print
  -- A bottom that is not looked at.
  (old, _) <- modifyLazily other (error "not looked at")
  print old
  readIORef other >>= \v -> try (evaluate v) >>= \r -> putStrLn (either (\(ErrorCall e) -> e) show r)
  -- Killed in the midst of what takes for ever: others go on.
  stuck <- newIORef (1 :: Int)
  r <- timeout 20000 (atomicModifyIORef' stuck (\n -> (forever_ (fromIntegral n), ())))
  print r
  atomicWriteIORef stuck 1
  together 4 $ \_ -> forM_ [1 .. 500 :: Int] $ \_ -> atomicModifyIORef' stuck (\n -> (n + 1, ()))
  readIORef stuck >>= print
  -- Exceptions thrown at threads that modify: masked, each modification counts.
  total <- newIORef (0 :: Int)
  made <- newMVar (0 :: Int)
  targets <- forM [1 .. 4 :: Int] $ \_ -> do
    done <- newEmptyMVar
    t <- forkFinally (mask $ \restore -> do
      mine <- newIORef 0
      r <- try (forever $ do
        atomicModifyIORef' total (\x -> (x + length (show x) `div` 100 + 1, ()))
        modifyIORef' mine (+ 1)
        restore yield)
      m <- readIORef mine
      modifyMVar_ made (return . (+ m))
      either (\e -> throwIO (e :: AsyncException)) return r) (putMVar done)
    return (t, done)
  threadDelay 30000
  untilModified total
  forM_ targets $ \(t, _) -> killThread t
  forM_ targets $ \(_, done) -> takeMVar done
  (,) <$> readIORef total <*> readMVar made >>= \(a, b) -> print (a == b, a > 0)
  -- The same unmasked: of each that was cut off the modification is there or not.
  open <- newIORef (0 :: Int)
  cut <- forM [1 .. 40 :: Int] $ \k -> do
    t <- forkIO (forM_ [1 .. 10000 :: Int] $ \i -> atomicModifyIORef' open (\x -> (x + length (show (x + i)) `div` 100 + 1, ())))
    threadDelay (k * 20)
    return t
  untilModified open
  mapM_ killThread cut
  before <- readIORef open
  together 4 $ \_ -> replicateM_ 100 (atomicModifyIORef' open (\x -> (x + 1, ())))
  after <- readIORef open
  print (after - before, before > 0)
