-- A generation count of zero.
-- args: +RTS -G0 -RTS
main :: IO ()
main = putStrLn "not reached"
