-- Many threads that make foreign calls, most of them short, on one HEC: each goes on, and none waits forever.
-- ghc: -O -threaded
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import Foreign.C

foreign import ccall safe "abs" short :: CInt -> IO CInt
foreign import ccall safe "usleep" long :: CUInt -> IO CInt

callers :: Int -> Int -> (Int -> IO Int) -> IO Int
callers threads n call = do
  results <- forM [1 .. threads] $ \k -> do
    v <- newEmptyMVar
    _ <- (if even k then forkIO else forkOn 0) (foldM (\s i -> (s +) <$> call i) 0 [1 .. n] >>= putMVar v)
    return v
  sum <$> mapM takeMVar results

main :: IO ()
main = do
  let one i = fromIntegral <$> short (fromIntegral (negate i))
  callers 1 20000 one >>= print
  callers 2 20000 one >>= print
  callers 6 5000 one >>= print
  -- Some take long.
  callers 4 400 (\i -> when (i `mod` 50 == 0) (void (long 200)) >> one i) >>= print
  -- Others compute, talk to each other, or sleep meanwhile.
  counter <- newIORef (0 :: Int)
  stop <- newEmptyMVar
  turns <- replicateM 2 (newMVar (0 :: Int))
  helpers <- forM turns $ \m -> forkIO $ forever $ do
    modifyMVar_ m (return . (+ 1))
    atomicModifyIORef' counter (\c -> (c + 1, ()))
    yield
  sleeper <- forkIO (replicateM_ 20 (threadDelay 500) >> putMVar stop ())
  callers 3 5000 one >>= print
  takeMVar stop
  mapM_ killThread (sleeper : helpers)
  moved <- readIORef counter
  held <- mapM readMVar turns
  print (moved > 0, sum held >= moved)
  -- Interrupted in between.
  v <- newEmptyMVar
  t <- mask_ (forkIOWithUnmask (\u -> try (u (forever (one 1))) >>= putMVar v))
  _ <- callers 2 1000 one
  killThread t
  (takeMVar v :: IO (Either AsyncException ())) >>= print
