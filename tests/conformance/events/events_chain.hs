-- A byte through a chain of 300 pipes, each with a thread that waits; several times, and several bytes at once.
import Control.Concurrent
import Control.Monad
import System.Posix.IO

main :: IO ()
main = do
  pipes <- replicateM 301 createPipe
  forM_ (zip pipes (tail pipes)) $ \((a, _), (_, b)) -> forkIO $ forever $ do
    threadWaitRead a
    (s, _) <- fdRead a 100
    fdWrite b s
  let begin = snd (head pipes)
      end = fst (last pipes)
      receive n = when (n > 0) $ do
        threadWaitRead end
        (s, _) <- fdRead end 100
        receive (n - length s)
  forM_ [1 .. 5 :: Int] $ \i -> do
    _ <- fdWrite begin (show i)
    threadWaitRead end
    fdRead end 100 >>= print
  forM_ [1 .. 20 :: Int] $ \_ -> fdWrite begin "ab" >> yield
  receive (40 :: Int)
  putStrLn "all"
