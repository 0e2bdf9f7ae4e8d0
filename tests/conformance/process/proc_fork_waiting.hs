-- A fork while a thread that is tied to another HEC waits for what a third one evaluates: in the child none of them
-- goes on.
-- ghc: -O -threaded -with-rtsopts=-N4
-- needs: unix
-- timeout: 180
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.IO
import System.Posix.Process

work :: Int -> Integer
work n = sum [toInteger (i * i `mod` 7) | i <- [1 .. n]]
{-# NOINLINE work #-}

main :: IO ()
main = replicateM_ 5 $ do
  parent <- getProcessID
  done <- newEmptyMVar
  forM_ [1 .. 8] $ \i -> do
    let x = work (2000000 + i)
    _ <- forkIO (void (evaluate x) >> putMVar done ())
    forkOn i $ do
      yield
      _ <- evaluate x
      here <- getProcessID
      -- A thread of the parent's has woken up in the child.
      when (here /= parent) (putStrLn "goes on in the child" >> hFlush stdout)
      putMVar done ()
  threadDelay 2000
  child <- forkProcess $ do
    threadDelay 300000
    hFlush stdout
  status <- getProcessStatus True False child
  print status
  replicateM_ 16 (takeMVar done)
