-- -t --machine-readable: exit code and output unaffected.
-- args: +RTS -t --machine-readable -RTS
-- compare: stdout,exit
main :: IO ()
main = print (length (show (3 ^ (50000 :: Int) :: Integer)))
