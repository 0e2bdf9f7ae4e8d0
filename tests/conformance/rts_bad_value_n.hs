-- A capability count of zero.
-- compare: stdout,stderr-first,exit
-- args: +RTS -N0 -RTS
main :: IO ()
main = putStrLn "not reached"
