-- The smallest program linked against the debug flavour.
-- ghc: -O0 -debug
main :: IO ()
main = putStrLn "Hello, debugger" >> print (sum [1 .. 1000 :: Int])
