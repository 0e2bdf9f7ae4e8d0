-- A heap limit with an unknown unit.
-- args: +RTS -M5x -RTS
main :: IO ()
main = putStrLn "not reached"
