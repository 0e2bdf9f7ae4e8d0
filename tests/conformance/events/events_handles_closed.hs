-- Handles of pipes: one is closed under a thread that waits, one has no reader, and all modes of buffering fill a pipe.
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.IO
import System.IO.Error
import System.Posix.IO
import Waits

main :: IO ()
main = do
  (r, w) <- createPipe
  [hr, hw] <- mapM fdToHandle [r, w]
  hSetBuffering hw NoBuffering
  -- A reader has the handle while it waits: a close by another comes after it.
  reading <- spawn (hGetLine hr)
  closing <- newEmptyMVar
  _ <- forkIO (hClose hr >> putMVar closing ())
  threadDelay 5000
  tryTakeMVar closing >>= print
  hPutStrLn hw "last"
  report "reader" reading
  takeMVar closing
  (try (hGetChar hr) :: IO (Either IOException Char)) >>= print . either (const "closed") show
  written <- try (hPutStrLn hw "nobody reads") :: IO (Either IOException ())
  print (either isResourceVanishedError (const False) written)
  -- A writer waits until there is room; all arrives, in blocks and lines.
  forM_ [NoBuffering, LineBuffering, BlockBuffering Nothing] $ \mode -> do
    (r2, w2) <- createPipe
    [hr2, hw2] <- mapM fdToHandle [r2, w2]
    hSetBuffering hw2 mode
    writer <- spawn (forM_ [1 .. 3000 :: Int] (\i -> hPutStrLn hw2 (show i ++ replicate 60 '.')) >> hClose hw2)
    ls <- lines <$> hGetContents hr2
    print (length ls, last ls == "3000" ++ replicate 60 '.')
    report "writer" writer
