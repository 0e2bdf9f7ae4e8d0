-- A stack size of 0 is no limit.
-- args: +RTS -K0 -RTS
main :: IO ()
main = print (foldr (+) 0 [1 .. 1000000 :: Integer])
