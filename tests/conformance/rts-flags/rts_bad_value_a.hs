-- A nursery size that is not a number.
-- args: +RTS -Agarbage -RTS
main :: IO ()
main = putStrLn "not reached"
