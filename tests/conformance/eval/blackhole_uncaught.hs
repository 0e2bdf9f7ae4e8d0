-- A self-demanding thunk with no handler prints <<loop>> and exits with code 1.
main :: IO ()
main = do
  putStrLn "before"
  let x = if x > (0 :: Int) then x - 1 else x + 1
  print x
