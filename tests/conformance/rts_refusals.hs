-- The program runs itself with many wrong runtime options: the first line of each message and the exit code.
import Control.Monad
import System.Environment
import System.Exit
import System.Process

cases :: [[String]]
cases = map words
  [ "-y", "--bogus", "-A", "-Ax", "-A1", "-A-5", "-G0", "-Gx", "-G", "-K", "-M", "-M1", "-M5x", "-H", "-Hx", "-F", "-Fx", "-F-1", "-n1", "-O", "-Ox"
  , "-N0", "-N-1", "-Nx", "-C-1", "-Cx", "-V-1", "-Vx", "-I-1", "-Ix", "-c200", "-cx", "-kc", "-kb", "-ki", "-kx", "-k", "-maxN0", "-qx", "-q"
  , "-Z -Q", "-DS", "-x", "-xq", "-xnn", "-T1", "-sx -yy", "-hc", "-h", "-p", "-B5", "-e5x", "-r", "-L", "-R", "-i1", "-m101", "-mx", "-b1", "-ga", "-X"
  , "--install-signal-handlers=maybe", "--internal-counters", "--numa", "--numa-mask=0", "--debug-numa=2", "--long-gc-sync=x", "-RTS +RTS --again" ]

main :: IO ()
main = do
  args <- getArgs
  case args of
    ["child"] -> putStrLn "ran"
    _ -> do
      self <- getExecutablePath
      forM_ cases $ \flags -> do
        (code, out, err) <- readProcessWithExitCode self (["child", "+RTS"] ++ flags ++ ["-RTS"]) ""
        let message = case lines err of { l : _ -> drop 2 (dropWhile (/= ':') l); [] -> "" }
        putStrLn (unwords flags ++ " => " ++ (case code of { ExitSuccess -> "0"; ExitFailure n -> show n }) ++ " " ++ show (out /= "") ++ " " ++ message)
