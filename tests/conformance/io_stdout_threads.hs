-- Lines written by many threads under a lock come out whole; hSetBuffering changes and hFlush.
import Control.Concurrent
import Control.Monad
import System.IO

main :: IO ()
main = do
  lock <- newMVar ()
  hSetBuffering stdout LineBuffering
  vs <- forM [1 .. 10 :: Int] $ \i -> do
    v <- newEmptyMVar
    _ <- forkIO $ do
      takeMVar v
      withMVar lock (\_ -> putStrLn (concat (replicate 10 (show i ++ " "))))
      putMVar v ()
    return v
  forM_ vs $ \v -> putMVar v () >> yield >> threadDelay 200 >> takeMVar v
  hSetBuffering stdout (BlockBuffering (Just 10))
  putStr "abc"
  hFlush stdout
  hSetBuffering stdout NoBuffering
  putStrLn "def"
  hPutStrLn stderr "to stderr"
  hIsTerminalDevice stdout >>= print
