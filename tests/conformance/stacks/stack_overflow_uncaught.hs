-- An uncaught stack overflow in main: message on stderr and exit code 2.
-- compare: stdout,exit
-- args: +RTS -K100k -RTS
count :: Int -> Int
count 0 = 0
count n = 1 + count (n - 1)
{-# NOINLINE count #-}

main :: IO ()
main = do
  putStrLn "about to overflow"
  print (count 10000000)
  putStrLn "not reached"
