-- -N for a program linked without -threaded.
-- compare: stdout,exit
-- ghc: -O
-- args: +RTS -N2 -RTS
main :: IO ()
main = putStrLn "not reached"
