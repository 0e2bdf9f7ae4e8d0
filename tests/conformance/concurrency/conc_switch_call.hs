-- Threads that follow each other as they block, and then leave for foreign calls, also where another thread began: each
-- comes back with its own result and errno, and main, which is bound and waits among them, on its own OS thread.
-- ghc: -O -threaded
import Control.Concurrent
import Control.Monad
import Foreign
import Foreign.C

foreign import ccall safe "poll" poll :: Ptr () -> CULong -> CInt -> IO CInt
foreign import ccall safe "unistd.h close" closeSafe :: CInt -> IO CInt
foreign import ccall safe "stdlib.h chdir" chdirSafe :: CString -> IO CInt
foreign import ccall unsafe "pthread_self" self :: IO CULong

-- Takes from its neighbour and hands on; makes a call every so often, most of which return at once.
member :: Int -> MVar Int -> MVar Int -> MVar (Int, Int) -> IO ()
member i from to done = go 0 0
  where
    go right n = do
      x <- takeMVar from
      ok <- if (x + i) `mod` 3 == 0 then call x else return True
      when (x `mod` 5 == 0) yield
      putMVar to (x - 1)
      let right' = right + fromEnum ok
      if x <= 8 then putMVar done (i, right' - n - 1) else go right' (n + 1)
    call x
      | x `mod` 64 == 0 = (== 0) <$> poll nullPtr 0 1
      | even i = do
          r <- closeSafe (-1)
          yield
          e <- getErrno
          return (r == -1 && e == eBADF)
      | otherwise = do
          r <- withCString "/no/such/place" chdirSafe
          yield
          e <- getErrno
          return (r == -1 && e == eNOENT)

main :: IO ()
main = do
  here <- self
  done <- newEmptyMVar
  -- Several rings, so that there is always somebody to follow.
  replicateM_ 3 $ do
    places <- replicateM 8 newEmptyMVar
    forM_ (zip3 [0 ..] places (tail places ++ [head places])) $ \(i, from, to) -> forkIO (member i from to done)
    putMVar (head places) 1500
  wrong <- replicateM 24 (takeMVar done)
  print (sum (map snd wrong))
  there <- self
  print (here == there)
