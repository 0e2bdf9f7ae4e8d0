-- An uncaught arithmetic exception.
main :: IO ()
main = putStrLn "start" >> print (10 `div` (length "" :: Int))
