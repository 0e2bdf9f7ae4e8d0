-- executeFile replaces the process image, timers and masks do not disturb the new program.
import System.IO
import System.Posix.Process
main :: IO ()
main = do
  putStrLn "before"
  hFlush stdout
  executeFile "/bin/sh" False ["-c", "echo replaced; exit 6"] Nothing
