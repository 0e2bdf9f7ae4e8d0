-- System.Process beside waits and delays: pipes both ways, a time limit, and many children at once.
-- needs: process
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Exit
import System.IO
import System.Process
import System.Timeout

main :: IO ()
main = do
  readProcess "cat" [] (replicate 200000 'x') >>= print . length
  readProcessWithExitCode "sh" ["-c", "cat >&2; echo out; exit 3"] "to stderr" >>= print
  -- Both ways, a line at a time.
  (Just i, Just o, Nothing, p) <- createProcess (proc "cat" []) { std_in = CreatePipe, std_out = CreatePipe }
  mapM_ (`hSetBuffering` LineBuffering) [i, o]
  forM_ [1 .. 50 :: Int] $ \k -> do
    hPrint i k
    s <- hGetLine o
    when (s /= show k) (print (k, s))
  -- Nothing comes: the limit ends the wait, and the pipe is as good as before.
  timeout 10000 (hGetLine o) >>= print
  hPutStrLn i "after the limit"
  hGetLine o >>= putStrLn
  hClose i
  hIsEOF o >>= print
  waitForProcess p >>= print
  -- A thread waits for a child that another ends.
  (_, _, _, sleeper) <- createProcess (proc "sleep" ["1000"])
  code <- newEmptyMVar
  _ <- forkIO (waitForProcess sleeper >>= putMVar code)
  threadDelay 2000
  tryReadMVar code >>= print
  terminateProcess sleeper
  takeMVar code >>= print
  -- Many at once, each with its own pipes.
  vs <- forM [1 .. 10 :: Int] $ \k -> do
    v <- newEmptyMVar
    _ <- forkIO (readProcess "sh" ["-c", "read x; echo $x$x"] (show k ++ "\n") >>= putMVar v)
    return v
  mapM takeMVar vs >>= putStr . concat
  gone <- try (readProcess "/nonexistent/program" [] "") :: IO (Either IOException String)
  putStrLn (either (const "no such program") id gone)
  (try (callProcess "false" []) :: IO (Either IOException ())) >>= either (const (putStrLn "false fails")) return
  system "exit 7" >>= \c -> print (c == ExitFailure 7)
