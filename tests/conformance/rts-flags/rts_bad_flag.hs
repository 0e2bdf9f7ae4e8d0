-- An unknown runtime flag: message and exit code.
-- compare: stdout,exit
-- args: +RTS --bogus -RTS
main :: IO ()
main = putStrLn "not reached"
