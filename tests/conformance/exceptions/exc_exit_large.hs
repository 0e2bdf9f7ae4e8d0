-- An exit code above 255 whose low byte is not zero.
import System.Exit
main :: IO ()
main = putStrLn "large" >> exitWith (ExitFailure 300)
