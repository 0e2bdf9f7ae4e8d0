-- Linked with -rtsopts=some: a flag that is not safe is refused.
-- rtsopts: some
-- args: +RTS -A64k -RTS
main :: IO ()
main = putStrLn "not reached"
