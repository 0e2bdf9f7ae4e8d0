-- The program runs itself with wrong uses of the rarer runtime options: the first line of each message and the exit
-- code. (Heap profiles and NUMA are refused differently on purpose.)
import Control.Monad
import System.Environment
import System.Exit
import System.Process

cases :: [[String]]
cases = map words
  [ "-kc", "-kb", "-ki", "-kx", "-k", "-maxN0", "-qx", "-q", "-Z -Q", "-DS", "-x", "-xq", "-T1", "-sx -yy", "-hc", "-p", "-B5", "-e5x", "-r"
  , "-L", "-R", "-i1", "-m101", "-mx", "-b1", "-ga", "-X", "--install-signal-handlers=maybe", "--internal-counters", "--debug-numa=2", "-xm80000001", "-xm-1" ]

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
