-- Stacks that grow by chunks to which next to nothing of the old one may be copied.
-- args: +RTS -kc1k -kb8 -RTS
import Control.Exception

count :: Int -> Integer
count 0 = 0
count n = 1 + count (n - 1)

depth :: Int -> IO Int
depth 0 = evaluate 0
depth n = (+ 1) <$> depth (n - 1) `onException` putStrLn "not reached"

main :: IO ()
main = do
  print (count 200000)
  depth 50000 >>= print
  print (foldr (\(a, b) (c, d) -> (a + c, b - d)) (0, 0) (zip [1 .. 50000 :: Integer] [1 ..]))
