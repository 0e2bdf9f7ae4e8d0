-- Foreign calls of one place that mostly return at once, and now and then wait for what another thread does: no thread
-- waits forever for those.
-- ghc: -O -threaded
import Control.Concurrent
import Control.Monad
import Foreign
import Foreign.C

foreign import ccall unsafe "pipe" c_pipe :: Ptr CInt -> IO CInt
foreign import ccall safe "read" c_read :: CInt -> Ptr Word8 -> CSize -> IO CSize
foreign import ccall unsafe "write" c_write :: CInt -> Ptr Word8 -> CSize -> IO CSize

newPipe :: IO (CInt, CInt)
newPipe = allocaArray 2 $ \ends -> do
  0 <- c_pipe ends
  [from, to] <- peekArray 2 ends
  pure (from, to)

put :: CInt -> Int -> IO ()
put to n = replicateM_ n (alloca $ \p -> poke p 1 >> c_write to p 1)

-- Reads the given number of bytes, one at a time.
get :: CInt -> Int -> IO Int
get from n = sum <$> replicateM n (alloca $ \p -> c_read from p 1 >> fromIntegral <$> peek p)

busy :: MVar () -> Int -> IO ()
busy stop n = do
  over <- not <$> isEmptyMVar stop
  unless (over || sum [1 .. toInteger (n `mod` 1000)] < 0) (busy stop (n + 1))

main :: IO ()
main = do
  (fromMain, toChild) <- newPipe
  (fromChild, toMain) <- newPipe
  stop <- newEmptyMVar
  replicateM_ 8 (forkIO (busy stop 1))
  done <- newEmptyMVar
  -- Each answers the other's bytes, of which there are many at first, and then one that it waits for.
  _ <- forkIO $ replicateM 20 (get fromMain 50 <* put toMain 50) >>= putMVar done . sum
  answers <- forM [1 .. 20 :: Int] $ \_ -> put toChild 50 >> get fromChild 50
  n <- takeMVar done
  putMVar stop ()
  print (n, sum answers)
