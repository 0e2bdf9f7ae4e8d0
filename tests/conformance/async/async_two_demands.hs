-- A thunk frozen by an exception in one thread is completed by another that waits on it.
-- ghc: -O -fno-omit-yields -threaded
import Control.Concurrent
import Control.Exception
import Control.Monad

main :: IO ()
main = forM_ [1 .. 10 :: Int] $ \i -> do
  let t = length (filter (\n -> n `mod` 7 == i `mod` 7) [1 .. 300000 + i])
  out <- newEmptyMVar
  a <- forkIO (evaluate t >> return ())
  yield
  forM_ [1 .. 3 :: Int] $ \_ -> forkIO (evaluate t >>= putMVar out)
  when (even i) yield
  killThread a
  rs <- replicateM 3 (takeMVar out)
  print (rs == replicate 3 (length (filter (\n -> n `mod` 7 == i `mod` 7) [1 .. 300000 + i])))
