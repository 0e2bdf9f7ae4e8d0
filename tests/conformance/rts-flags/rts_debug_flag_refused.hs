-- -D needs the debug flavour.
-- compare: stdout,exit
-- args: +RTS -Ds -RTS
main :: IO ()
main = putStrLn "not reached"
