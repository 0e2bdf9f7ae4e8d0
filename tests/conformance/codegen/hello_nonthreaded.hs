-- The smallest program linked against the non-threaded runtime.
-- ghc: -O
main :: IO ()
main = putStrLn "Hello from one thread"
