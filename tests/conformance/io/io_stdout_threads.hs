-- Lines written by many threads under a lock come out whole; hSetBuffering changes and hFlush.
import Control.Concurrent
import Control.Monad
import System.IO

main :: IO ()
main = do
  lock <- newMVar ()
  hSetBuffering stdout LineBuffering
  vs <- forM [1 .. 10 :: Int] $ \i -> do
    start <- newEmptyMVar
    done <- newEmptyMVar
    _ <- forkIO $ do
      takeMVar start
      withMVar lock (\_ -> putStrLn (concat (replicate 10 (show i ++ " "))))
      putMVar done ()
    return (start, done)
  forM_ vs $ \(start, done) -> putMVar start () >> yield >> threadDelay 200 >> takeMVar done
  hSetBuffering stdout (BlockBuffering (Just 10))
  putStr "abc"
  hFlush stdout
  hSetBuffering stdout NoBuffering
  putStrLn "def"
  hPutStrLn stderr "to stderr"
  hIsTerminalDevice stdout >>= print
