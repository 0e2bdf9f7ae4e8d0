-- An unknown one-letter runtime flag.
-- compare: stdout,stderr-first,exit
-- args: +RTS -y -RTS
main :: IO ()
main = putStrLn "not reached"
