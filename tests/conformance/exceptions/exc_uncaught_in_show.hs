-- An exception whose own show raises, uncaught.
import Control.Exception
data Nasty = Nasty
instance Show Nasty where show _ = "nasty " ++ error "while showing"
instance Exception Nasty
main :: IO ()
main = putStrLn "before" >> throwIO Nasty
