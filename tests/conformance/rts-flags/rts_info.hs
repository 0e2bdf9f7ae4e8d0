-- +RTS --info prints a list of pairs and stops: exit code only.
-- args: +RTS --info
-- compare: exit
main :: IO ()
main = putStrLn "not reached"
