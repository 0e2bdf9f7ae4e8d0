-- Exit code 0 by exitSuccess in the middle of handlers and brackets, whose finalizers run.
import Control.Exception
import System.Exit

main :: IO ()
main = do
  r <- try (exitWith (ExitFailure 3))
  print (r :: Either ExitCode ())
  r2 <- try (exitWith (ExitFailure 0))
  putStrLn (either (\e -> "refused: " ++ takeWhile (/= '\n') (show (e :: SomeException))) (const "") (r2 :: Either SomeException ()))
  bracket_ (putStrLn "in") (putStrLn "out") (exitSuccess `finally` putStrLn "finally")
  putStrLn "not reached"
