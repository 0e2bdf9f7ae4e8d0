-- A nursery size below the least.
-- args: +RTS -A0 -RTS
-- compare: exit
main :: IO ()
main = putStrLn "not reached"
