-- A negative exit code stands for death by that signal.
import System.Exit
main :: IO ()
main = putStrLn "minus" >> exitWith (ExitFailure (-6))
