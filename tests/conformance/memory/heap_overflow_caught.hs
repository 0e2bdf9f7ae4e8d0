-- A heap limit becomes a HeapOverflow exception in the main thread, which can be caught and recovered from.
-- args: +RTS -M16m -RTS
import Control.Exception
import qualified Data.Map as M

build :: Int -> M.Map Int [Int]
build n = M.fromList [ (i, [i .. i + 5]) | i <- [1 .. n] ]

main :: IO ()
main = do
  r <- try (evaluate (sum (map sum (M.elems m)) + M.size m))
  case r of
    Left HeapOverflow -> putStrLn "heap overflow caught"
    Left e -> putStrLn ("other: " ++ show e)
    Right n -> print n
  print (M.size (build 100))
  where m = build 2000000
