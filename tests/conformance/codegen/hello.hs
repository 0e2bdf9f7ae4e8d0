-- The smallest program: start, print one line, flush, stop.
main :: IO ()
main = putStrLn "Hello, world!"
