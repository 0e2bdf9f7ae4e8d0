-- A stack size that is not a number is read as zero, which for -K means no limit.
-- args: +RTS -Kfoo -RTS
main :: IO ()
main = putStrLn "the prefix was enough"
