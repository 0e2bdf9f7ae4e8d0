-- A capability count of zero.
-- compare: stdout,exit
-- args: +RTS -N0 -RTS
main :: IO ()
main = putStrLn "not reached"
