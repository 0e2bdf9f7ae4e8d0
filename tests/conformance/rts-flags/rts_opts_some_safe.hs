-- Linked with -rtsopts=some: -? is allowed.
-- rtsopts: some
-- args: +RTS -?
-- compare: exit
main :: IO ()
main = putStrLn "not reached"
