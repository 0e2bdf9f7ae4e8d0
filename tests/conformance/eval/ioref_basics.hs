-- IORef: read, write, strict and lazy modify, and both atomic forms.
import Data.IORef

main :: IO ()
main = do
  r <- newIORef (0 :: Int)
  mapM_ (\i -> modifyIORef' r (+ i)) [1 .. 1000]
  readIORef r >>= print
  modifyIORef r (* 2)
  readIORef r >>= print
  old <- atomicModifyIORef r (\x -> (x + 1, x))
  new <- atomicModifyIORef' r (\x -> (x + 1, show x))
  print (old, new)
  atomicWriteIORef r 7
  readIORef r >>= print
  lazyR <- newIORef (1 :: Int)
  _ <- atomicModifyIORef lazyR (\_ -> (error "never looked at", ()))
  atomicModifyIORef lazyR (\_ -> (5, error "nor this")) >>= \_ -> readIORef lazyR >>= print
  s <- newIORef []
  mapM_ (\c -> modifyIORef s (c :)) "desrever"
  readIORef s >>= putStrLn
  print (r == r)
