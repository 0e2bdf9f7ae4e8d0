-- Exit code 2.
import System.Exit
main :: IO ()
main = putStrLn "two" >> exitWith (ExitFailure 2)
