-- A top-level list consumed once as it is produced is garbage behind the consumer: CAFs no longer referred to by code
-- are collected.
-- args: +RTS -M24m -RTS
numbers :: [Int]
numbers = [1 .. 3000000]
{-# NOINLINE numbers #-}

consume :: Int -> [Int] -> Int
consume acc [] = acc
consume acc (x : xs) = let a = acc + x in a `seq` consume a xs

main :: IO ()
main = print (consume 0 numbers)
