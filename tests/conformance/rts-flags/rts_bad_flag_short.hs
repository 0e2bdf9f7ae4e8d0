-- An unknown one-letter runtime flag.
-- compare: stdout,exit
-- args: +RTS -y -RTS
main :: IO ()
main = putStrLn "not reached"
