-- System.Process: pipes in both directions, exit codes, shell, a working directory, environment, failure to start.
import Control.Concurrent
import Control.Exception
import Control.Monad
import System.Exit
import System.IO
import System.Process

main :: IO ()
main = do
  readProcess "cat" [] "through cat" >>= putStrLn
  readProcessWithExitCode "sh" ["-c", "read x; echo out $x; echo err >&2; exit 5"] "input\n" >>= print
  (_, Just out, _, h) <- createProcess (proc "pwd" []) { cwd = Just "/", std_out = CreatePipe }
  hGetLine out >>= putStrLn
  waitForProcess h >>= print
  (Just inp, Just o2, _, h2) <- createProcess (shell "tr a-z A-Z") { std_in = CreatePipe, std_out = CreatePipe, env = Just [("PATH", "/usr/bin:/bin")] }
  forM_ [1 .. 100 :: Int] $ \i -> hPutStrLn inp ("line " ++ show i)
  hClose inp
  s <- hGetContents o2
  print (length s, take 6 s)
  waitForProcess h2 >>= print
  r <- try (readProcess "/no/such/program" [] "") :: IO (Either IOException String)
  print (either (const "cannot start") id r)
  (_, _, _, slow) <- createProcess (proc "sleep" ["20"])
  getProcessExitCode slow >>= print
  terminateProcess slow
  waitForProcess slow >>= print
  -- Several at once while Haskell threads go on.
  vs <- forM [1 .. 5 :: Int] $ \i -> do { v <- newEmptyMVar; _ <- forkIO (readProcess "sh" ["-c", "sleep 0.05; echo " ++ show i] "" >>= putMVar v); return v }
  mapM takeMVar vs >>= print
  big <- readProcess "cat" [] (replicate 300000 'z')
  print (length big)
  c <- system "exit 3"
  print (c == ExitFailure 3)
