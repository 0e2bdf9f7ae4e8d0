-- +RTS -? prints usage: exit code only.
-- args: +RTS -?
-- compare: exit
main :: IO ()
main = putStrLn "not reached"
