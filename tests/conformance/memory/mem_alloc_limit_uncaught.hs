-- An allocation limit that nobody catches in main: text and exit code.
import System.Mem
main :: IO ()
main = do
  setAllocationCounter (2 * 1024 * 1024)
  enableAllocationLimit
  print (length (show (product [1 .. 6000 :: Integer])))
