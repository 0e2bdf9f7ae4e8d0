-- Exit code 255, thrown from pure code.
import Control.Exception
import System.Exit
main :: IO ()
main = putStrLn "255" >> print (throw (ExitFailure 255) + 1 :: Int)
