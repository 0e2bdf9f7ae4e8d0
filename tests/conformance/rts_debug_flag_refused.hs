-- -D needs the debug flavour.
-- compare: stdout,stderr-first,exit
-- args: +RTS -Ds -RTS
main :: IO ()
main = putStrLn "not reached"
