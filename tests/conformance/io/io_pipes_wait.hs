-- Descriptors: threads waiting to read from pipes while others run; threadWaitRead, threadWaitWrite and closing.
import Control.Concurrent
import Control.Monad
import System.IO
import System.Posix.IO
import System.Posix.Types
import System.Timeout

main :: IO ()
main = do
  (r, w) <- createPipe
  out <- newEmptyMVar
  _ <- forkIO (threadWaitRead r >> fdRead r 100 >>= putMVar out . fst)
  threadDelay 2000
  tryTakeMVar out >>= print
  threadWaitWrite w
  _ <- fdWrite w "hello pipe"
  takeMVar out >>= putStrLn
  timeout 5000 (threadWaitRead r) >>= print
  -- Many pipes in a ring.
  pipes <- replicateM 20 createPipe
  forM_ (zip pipes (tail pipes)) $ \((a, _), (_, b)) -> forkIO $ do
    threadWaitRead a
    (s, _) <- fdRead a 100
    _ <- fdWrite b ('>' : s)
    return ()
  _ <- fdWrite (snd (head pipes)) "go"
  let end = fst (last pipes)
  threadWaitRead end
  fdRead end 100 >>= putStrLn . fst
  -- Through handles.
  hr <- fdToHandle r
  hw <- fdToHandle w
  hSetBuffering hw LineBuffering
  _ <- forkIO (forM_ [1 .. 1000 :: Int] (hPrint hw) >> hClose hw)
  s <- hGetContents hr
  print (sum (map read (lines s)) :: Int)
