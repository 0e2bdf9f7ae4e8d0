-- An uncaught heap overflow: message on stderr and exit code 251.
-- args: +RTS -M10m -RTS
main :: IO ()
main = do
  putStrLn "filling"
  let xs = [1 .. 50000000] :: [Int]
  print (sum xs)
  print (length xs)
