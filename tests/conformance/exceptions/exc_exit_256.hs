-- An exit code that does not fit in a byte and would read as success.
import System.Exit
main :: IO ()
main = putStrLn "256" >> exitWith (ExitFailure 256)
