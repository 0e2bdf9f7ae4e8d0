-- An uncaught pattern match failure names the place.
f :: Int -> String
f 1 = "one"
f 2 = "two"
main :: IO ()
main = mapM_ (putStrLn . f) [1, 2, 3]
