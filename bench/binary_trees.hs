-- Allocation: many short-lived complete trees beside one long-lived.
-- args: 20
import System.Environment

data T = L | N T T

make :: Int -> T
make 0 = N L L
make d = N (make (d - 1)) (make (d - 1))

check :: T -> Int
check L = 0
check (N a b) = 1 + check a + check b

main :: IO ()
main = do
  [n] <- map read <$> getArgs
  let long = make n
  mapM_ (\d -> let k = 2 ^ (n - d + 3) :: Int in print (d, k, sum [ check (make d') | i <- [1 .. k], let d' = d - (i `mod` 2) ])) [4, 8 .. n]
  print (check long)
