-- The program runs itself with many wrong runtime options: the first line of each message and the exit code.
import Control.Monad
import System.Environment
import System.Exit
import System.Process

cases :: [[String]]
cases = map words
  [ "-y", "--bogus", "-A", "-Ax", "-A1", "-A-5", "-G0", "-Gx", "-G", "-K", "-M", "-M1", "-M5x", "-H", "-Hx", "-F", "-Fx", "-F-1", "-n1", "-O", "-Ox"
  , "-N0", "-N-1", "-Nx", "-C-1", "-Cx", "-V-1", "-Vx", "-I-1", "-Ix", "-c200", "-cx", "-RTS +RTS --again", "-A64k --bogus -G2" ]

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
