-- A bad flag in GHCRTS is refused like one on the command line.
-- compare: stdout,exit
-- env: GHCRTS=--nonsense
main :: IO ()
main = putStrLn "not reached"
